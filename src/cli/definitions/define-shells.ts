// The words about shells that exist already: ps, output, wait, kill, clean.
import { type Command, Option } from "commander";
import type { CleanOptions } from "../commands/clean.ts";
import type { KillOptions } from "../commands/kill-shells.ts";
import type { PsOptions } from "../commands/ps.ts";
import type { OutputOptions } from "../commands/show-output.ts";
import type { WaitOptions } from "../commands/wait.ts";
import { readCount, readMs, readSignal } from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function addShellsWords(program: Command, options: ProgramOptions): void {
  addPs(program, options);
  addOutput(program, options);
  addWait(program, options);
  addKill(program, options);
  addClean(program, options);
}

function addPs(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("ps")
    .description("list the shells of this user, those of MCP servers included")
    .option("-a, --all", "also those that ended more than ten minutes ago, as far as they are kept")
    .option("-w, --watch", "again whenever something changes, until Ctrl-C")
    .option("--json", "print them as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  nacre ps
  nacre ps --all --json
  nacre ps --watch`,
    )
    .action(async (options: PsOptions) => {
      const { listShells } = await import("../commands/ps.ts");
      done(await listShells(io, options));
    });
}

function addOutput(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("output")
    .description(
      "print what a shell has printed so far, as an agent would read it; no reader's place is moved",
    )
    .argument("<id>", "the id of a shell, or enough of its beginning")
    .addOption(new Option("-f, --follow", "go on until the shell ends, as it is printed").conflicts("json"))
    .option("--filter <regex>", "only lines that match (RE2 syntax)")
    .option("-n, --tail <lines>", "only the last lines of each stream", readCount)
    .addOption(
      new Option("--all", "all of it, uncut, byte by byte, each stream to its own").conflicts("json"),
    )
    .addOption(
      new Option("--raw", "as it was printed: colours, carriage returns and secrets").conflicts("json"),
    )
    .option("--stderr", "only stderr, and that to stdout")
    .option("--json", "print it as one JSON object, with the status")
    .addHelpText(
      "after",
      `
Examples:
  nacre output 3f9a               the beginning of an id is enough, with or without shell_
  nacre output 3f9a -f --filter 'ERROR|WARN'
  nacre output 3f9a --tail 20 --stderr
  nacre output 3f9a --all > build.log`,
    )
    .action(async (id: string, options: Omit<OutputOptions, "id">) => {
      const { printOutput } = await import("../commands/show-output.ts");
      done(await printOutput(io, { ...options, id }));
    });
}

function addWait(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("wait")
    .description("wait until a shell ends, or prints a line; ends nothing")
    .argument("<id>", "the id of a shell, or enough of its beginning")
    .option("--for <regex>", "wait for a line that matches (RE2 syntax), and print it")
    .option("--timeout <time>", "give up after this time: 500ms, 30s, 5m", readMs)
    .option("--json", "print what came of it as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: that of the shell; with --for 0 if the line came and 1 if the shell ended without it; 124 if the
time was over.

Examples:
  nacre wait 3f9a
  nacre wait 3f9a --for 'listening on' --timeout 30s`,
    )
    .action(async (id: string, options: Omit<WaitOptions, "id">) => {
      const { waitForShell } = await import("../commands/wait.ts");
      done(await waitForShell(io, { ...options, id }));
    });
}

function addKill(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("kill")
    .description("end shells with everything they started; say what was signalled and what survived")
    .argument("[id...]", "ids of shells, or enough of their beginnings")
    .option("--all", "every shell of this user that runs")
    .option(
      "-s, --signal <name>",
      "only send this signal to everything in the shell: INT, USR1, 15",
      readSignal,
    )
    .option("--json", "print what was found as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: 0 if nothing survived, 1 if something did or a shell was not found.

Examples:
  nacre kill 3f9a 77c0
  nacre kill --all
  nacre kill 3f9a --signal INT`,
    )
    .action(async (ids: string[], options: Omit<KillOptions, "ids">, command: Command) => {
      if (ids.length === 0 && !options.all) command.error("error: missing required argument 'id' (or --all)");
      if (ids.length > 0 && options.all) command.error("error: give ids or --all, not both");
      const { killShells } = await import("../commands/kill-shells.ts");
      done(await killShells(io, { ...options, ids }));
    });
}

function addClean(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("clean")
    .description("remove shells that have ended, with their output")
    .option("--older-than <time>", "only those that ended this long ago: 30s, 10m, 2h", readMs)
    .option("--json", "print what was removed as one JSON object")
    .addHelpText(
      "after",
      `
They go by themselves an hour after their end; this is for those who need the space now.

Examples:
  nacre clean
  nacre clean --older-than 10m`,
    )
    .action(async (options: CleanOptions) => {
      const { cleanShells } = await import("../commands/clean.ts");
      done(await cleanShells(io, options));
    });
}
