// The words of the command line, and which command they lead to. Commands are loaded when they are called:
// `nacre ps` does not wait for what only `nacre mcp` needs.
import { Command } from "commander";
import type { CliIo } from "./cli-io.ts";
import type { CheckOptions } from "./commands/check.ts";
import type { KillOptions } from "./commands/kill.ts";
import type { ServeOptions } from "./commands/mcp.ts";
import type { OutputOptions } from "./commands/output.ts";
import type { PsOptions } from "./commands/ps.ts";
import type { RunOptions } from "./commands/run.ts";
import type { ToolsOptions } from "./commands/tools.ts";
import {
  collectVariable,
  dialectOption,
  formatOption,
  onTimeoutOption,
  policyFileOption,
  policyOption,
  readAddress,
  readMs,
} from "./option.ts";
import { packageVersion } from "./package-version.ts";

export function createProgram(io: CliIo, done: (exitCode: number) => void): Command {
  const program = new Command("nacre")
    .description("The shell that AI agents should have had.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    });
  addRun(program, io, done);
  addShells(program, io, done);
  addPolicy(program, io, done);
  addTools(program, io, done);
  return program;
}

function addRun(program: Command, io: CliIo, done: (exitCode: number) => void): void {
  program
    .command("run")
    .description("run a command; its output and exit code pass through")
    .argument("<command...>", "one quoted command, or words that are joined by spaces")
    .option("-b, --background", "start it, print its id and let it run on; it outlives this program")
    .option("--json", "print the result as one JSON object")
    .option("--timeout <ms>", "end it after so many milliseconds", readMs)
    .option("--cwd <dir>", "where to run it", io.cwd)
    .option("--env <name=value>", "set a variable for it; may be given again", collectVariable, {})
    .addOption(policyOption())
    .addOption(policyFileOption())
    .addHelpText("after", RUN_EXIT_CODES)
    .action(async (words: string[], options: Omit<RunOptions, "command">) => {
      const { runCommand } = await import("./commands/run.ts");
      done(await runCommand(io, { ...options, command: words.join(" ") }));
    });
}

const RUN_EXIT_CODES = `
Exit codes: the command's own; 3 if the policy wants a person to say yes and nobody did, 4 if it says no,
124 if the time was over, 1 if nacre could not run it, 2 for words that make no sense.`;

const MCP_TOKENS = `
Over HTTP clients need a token: one of those in NACRE_MCP_TOKEN (separated by spaces), or else a new one, which is
printed on stderr. Clients with the same token share their shells.`;

function addShells(program: Command, io: CliIo, done: (exitCode: number) => void): void {
  program
    .command("ps")
    .description("list shells, whoever of this user has started them")
    .option("--json", "print them as one JSON object")
    .action(async (options: PsOptions) => {
      const { listShells } = await import("./commands/ps.ts");
      done(listShells(io, options));
    });
  program
    .command("output")
    .description("print what a shell has printed so far; no reader's place is moved")
    .argument("<id>", "the id of a shell, or its beginning")
    .option("--all", "the raw bytes of both streams, uncut")
    .option("-f, --follow", "go on until the shell ends")
    .option("--json", "print it as one JSON object, with the status")
    .action(async (id: string, options: Omit<OutputOptions, "id">) => {
      const { printOutput } = await import("./commands/output.ts");
      done(await printOutput(io, { ...options, id }));
    });
  program
    .command("kill")
    .description("end shells with everything they started, and say what was found")
    .argument("<id...>", "ids of shells, or their beginnings")
    .option("--json", "print what was found as one JSON object")
    .action(async (ids: string[], options: Omit<KillOptions, "ids">) => {
      const { killShells } = await import("./commands/kill.ts");
      done(await killShells(io, { ...options, ids }));
    });
}

function addPolicy(program: Command, io: CliIo, done: (exitCode: number) => void): void {
  program
    .command("check")
    .description("say what the policy thinks of a command; nothing is run")
    .argument("[command...]", "one quoted command, or words that are joined by spaces")
    .option("--json", "print the verdict as JSON")
    .option("--explain", "print the whole way to the verdict")
    .option("--jsonl", 'read lines {"command": …} from stdin, print a verdict for each')
    .option("--cwd <dir>", "where it would run", io.cwd)
    .option("--home <dir>", "whose home it would run for, as an ordinary user")
    .addOption(policyOption())
    .addOption(policyFileOption())
    .addHelpText("after", "\nExit codes: 0 allowed, 3 a person has to be asked, 4 denied. With --jsonl: 0.")
    .action(async (words: string[], options: Omit<CheckOptions, "command">, command: Command) => {
      if (options.jsonl) {
        const { checkLines } = await import("./commands/check-lines.ts");
        done(await checkLines(io, options));
        return;
      }
      if (words.length === 0) command.error("error: missing required argument 'command'");
      const { checkCommand } = await import("./commands/check.ts");
      done(checkCommand(io, { ...options, command: words.join(" ") }));
    });
}

function addTools(program: Command, io: CliIo, done: (exitCode: number) => void): void {
  program
    .command("tools")
    .description("print the tools as a provider wants them described")
    .addOption(dialectOption())
    .addOption(formatOption())
    .action(async (options: ToolsOptions) => {
      const { printTools } = await import("./commands/tools.ts");
      done(printTools(io, options));
    });
  program
    .command("mcp")
    .description("serve the tools over MCP on stdin and stdout, or over HTTP")
    .addOption(dialectOption())
    .addOption(policyOption())
    .addOption(policyFileOption())
    .option("--scope <name>", "share shells with whoever gives the same name")
    .option("--session <name>", "what the session is called that commands run in")
    .addOption(onTimeoutOption())
    .option("--durable", "let background shells outlive the server")
    .option("--http <port>", "serve over HTTP on this machine; 0 for any port that is free", readAddress)
    .option("--no-token", "over HTTP, let in whoever can reach the port: every user of this machine")
    .addHelpText("after", MCP_TOKENS)
    .action(async (options: ServeOptions) => {
      const { serve } = await import("./commands/mcp.ts");
      done(await serve(io, options));
    });
}
