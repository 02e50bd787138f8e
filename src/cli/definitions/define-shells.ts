// Defines the commands for existing shells: ps, output, wait, why, kill, clean.
import { type Command, Option } from "commander";
import { FINISHED_MAX_AGE_SECONDS, PS_RECENT_MS } from "../../support/limits.ts";
import { fixedTime } from "../amounts.ts";
import type { CleanOptions } from "../commands/clean.ts";
import type { KillOptions } from "../commands/kill-shells.ts";
import type { PsOptions } from "../commands/ps.ts";
import type { OutputOptions } from "../commands/show-output.ts";
import type { WaitOptions } from "../commands/wait.ts";
import type { WhyOptions } from "../commands/why.ts";
import {
  collectFilter,
  examples,
  PS_FILTER_KEYS,
  readCount,
  readLine,
  readMs,
  readPort,
  readSignal,
  readSince,
} from "../option.ts";
import type { ProgramOptions } from "../program-options.ts";

export function defineShells(program: Command, options: ProgramOptions): void {
  definePs(program, options);
  defineOutput(program, options);
  defineWait(program, options);
  defineWhy(program, options);
  defineKill(program, options);
  defineClean(program, options);
}

function definePs(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("ps")
    .alias("ls")
    .description("list the shells of this user, including those of MCP servers")
    .option(
      "-a, --all",
      `include shells that ended more than ${fixedTime(PS_RECENT_MS)} ago, as long as they are kept`,
    )
    .option("-q, --quiet", "print only ids")
    .option(
      "--filter <key=value>",
      `only matching shells, by ${PS_FILTER_KEYS.join(", ")}; command and cwd match a part; repeatable`,
      collectFilter,
    )
    .option("-w, --watch", "print the list again whenever it changes, until Ctrl-C")
    .option("--json", "print them as one JSON object")
    .addHelpText("after", examples("ps", "ps --all --json", "ps -q --filter status=running", "ps --watch"))
    .action(async (options: PsOptions) => {
      const { listShells } = await import("../commands/ps.ts");
      done(await listShells(io, options));
    });
}

function defineOutput(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("output")
    .alias("logs")
    .description("print the output of a shell as an agent would read it; advances no agent's cursor")
    .argument("<id>", "the id or name of a shell, or a unique beginning of the id")
    .addOption(new Option("-f, --follow", "keep printing new output until the shell ends").conflicts("json"))
    .option("--filter <regex>", "only lines that match (RE2 syntax)")
    .option("-n, --tail <lines>", "only the last lines of each stream", readCount)
    .addOption(
      new Option(
        "--search <regex>",
        "numbered lines that match (RE2 syntax), from everything it printed",
      ).conflicts(["filter", "follow", "all", "raw"]),
    )
    .option("--context <lines>", "with --search: lines around each match", readCount)
    .option("--from-line <number>", "begin at this line of each stream, and print line numbers", readLine)
    .option("--max-lines <number>", "print at most this many lines or matches", readLine)
    .addOption(
      new Option("--all", "the whole output byte for byte, stdout and stderr separately").conflicts("json"),
    )
    .addOption(new Option("--raw", "as printed, with colors, carriage returns and secrets").conflicts("json"))
    .option("--stderr", "only stderr, printed to stdout")
    .option("--since <time>", "only lines printed since: 30s, 10m, or 2026-01-31T09:30:00Z", readSince)
    .addOption(
      new Option("-t, --timestamps", "like --all, with the time before each line, sorted by time").conflicts(
        "json",
      ),
    )
    .option("--json", "print output and status as one JSON object")
    .addHelpText(
      "after",
      `
Examples:
  nacre output 3f9a               a unique beginning of the id, with or without shell_
  nacre output 3f9a -f --filter 'ERROR|WARN'
  nacre output 3f9a --search 'error|panic' --context 3 --max-lines 1
  nacre output 3f9a --tail 20 --stderr
  nacre output 3f9a --since 10m --timestamps
  nacre output 3f9a --all > build.log`,
    )
    .action(async (id: string, options: Omit<OutputOptions, "id">) => {
      const { printOutput } = await import("../commands/show-output.ts");
      done(await printOutput(io, { ...options, id }));
    });
}

function defineWait(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("wait")
    .description("wait until shells end, print a line or listen on a port; does not end them")
    .argument("<id...>", "ids or names of shells, or unique beginnings of ids")
    .option("--for <regex>", "wait for a line that matches (RE2 syntax), and print it")
    .addOption(
      new Option("--port <number>", "wait until a process of the shell listens on this TCP port")
        .argParser(readPort)
        .conflicts(["for", "file"]),
    )
    .addOption(
      new Option("--file <path>", "wait until this file exists; relative to the shell's directory").conflicts(
        ["for"],
      ),
    )
    .option("--timeout <time>", "give up after this time: 500ms, 30s, 5m", readMs)
    .option("--json", "print the result as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: the shell's own (of several shells, the first that is not 0); with --for, --port or --file, 0 if it appeared
and 1 if the shell ended without it; 124 after the timeout.
${examples("wait 3f9a", "wait 3f9a 77c0", "wait 3f9a --for 'listening on' --timeout 30s", "wait dev --port 3000")}`,
    )
    .action(async (ids: string[], options: Omit<WaitOptions, "ids">) => {
      const { waitForShells } = await import("../commands/wait.ts");
      done(await waitForShells(io, { ...options, ids }));
    });
}

function defineWhy(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("why")
    .description("show what each process of a shell does or waits for")
    .argument("<id>", "the id or name of a shell, or a unique beginning of the id")
    .option("--json", "print it as one JSON object")
    .addHelpText("after", examples("why 3f9a", "why dev --json"))
    .action(async (id: string, options: Omit<WhyOptions, "id">) => {
      const { explainShell } = await import("../commands/why.ts");
      done(await explainShell(io, { ...options, id }));
    });
}

function defineKill(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("kill")
    .description("end shells with everything they started; list signaled processes and survivors")
    .argument("[id...]", "ids or names of shells, or unique beginnings of ids")
    .option("--all", "every running shell of this user")
    .option(
      "-s, --signal <name>",
      "only send this signal to everything in the shell: INT, USR1, 15",
      readSignal,
    )
    .option("--json", "print the result as one JSON object")
    .addHelpText(
      "after",
      `
Exit codes: 0 if nothing survived, 1 if something did or a shell was not found.
${examples("kill 3f9a 77c0", "kill --all", "kill 3f9a --signal INT")}`,
    )
    .action(async (ids: string[], options: Omit<KillOptions, "ids">, command: Command) => {
      if (ids.length === 0 && !options.all) command.error("error: missing required argument 'id' (or --all)");
      if (ids.length > 0 && options.all) command.error("error: use ids or --all, not both");
      const { killShells } = await import("../commands/kill-shells.ts");
      done(await killShells(io, { ...options, ids }));
    });
}

function defineClean(program: Command, { io, done }: ProgramOptions): void {
  program
    .command("clean")
    .description("remove ended shells with their output")
    .option("--older-than <time>", "only those that ended this long ago: 30s, 10m, 2h", readMs)
    .option("--json", "print the result as one JSON object")
    .addHelpText(
      "after",
      `
nacre removes ended shells after ${fixedTime(FINISHED_MAX_AGE_SECONDS * 1000)}; use this if you need the space now.
${examples("clean", "clean --older-than 10m")}`,
    )
    .action(async (options: CleanOptions) => {
      const { cleanShells } = await import("../commands/clean.ts");
      done(await cleanShells(io, options));
    });
}
