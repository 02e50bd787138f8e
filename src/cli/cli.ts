// Runs one command line and returns the exit code. Takes its streams as an argument, so that tests can run it without
// starting a process.
import { type Command, CommanderError } from "commander";
import { messageOf } from "../support/errors.ts";
import { nearest } from "../support/nearest.ts";
import type { CliIo } from "./cli-io.ts";
import { colorsFor } from "./colors.ts";
import { EXIT, failureExitCode } from "./exit-code.ts";
import { printJson } from "./print.ts";
import { createProgram } from "./program.ts";
import { quoteArguments } from "./quote-arguments.ts";
import type { RemoteCommandLine } from "./remote-command-line.ts";

export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const done = (code: number) => {
    exitCode = code;
  };
  if (args.length === 0) {
    io.stdout.write(SHORT_HELP);
    return exitCode;
  }
  let known: readonly string[] = [];
  try {
    const remote = readRemoteOption(args);
    if (remote) return await runRemotely(io, remote);
    const program = createProgram({ io, args, done, runLine: runCli });
    known = program.commands.flatMap(namesOf);
    await program.parseAsync(normalizeArguments(program, args), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return await failed(io, error, args);
    const message = describeUsageError(error, args, known);
    if (message !== undefined) reportError(io, message);
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** `nacre --remote URL COMMAND …`: the option precedes the command. */
function readRemoteOption(args: readonly string[]): RemoteCommandLine | undefined {
  const [first = "", second, ...rest] = args;
  if (first === "--remote" && second !== undefined) return { url: second, args: rest };
  if (first.startsWith("--remote=")) return { url: first.slice("--remote=".length), args: args.slice(1) };
  return undefined;
}

async function runRemotely(io: CliIo, line: RemoteCommandLine): Promise<number> {
  const [command, ...rest] = line.args;
  // The MCP server has its own option --remote, because the protocol runs between this process and its client.
  if (command === "mcp") return await runCli(["mcp", "--remote", line.url, ...rest], io);
  const { runRemoteLine } = await import("./commands/run-remote.ts");
  return await runRemoteLine(io, line);
}

/** Reports that a command failed or was refused. */
async function failed(io: CliIo, error: unknown, args: readonly string[]): Promise<number> {
  const { BashSyntaxError } = await import("../execution/syntax-check.ts");
  const { notRunResult } = await import("../execution/endings.ts");
  const isSyntaxError = error instanceof BashSyntaxError;
  const result = notRunResult(error);
  if (wantsJson(args)) printJson(io, result.toWire());
  // Report a syntax error as bash does: with the message and the exit code of bash.
  if (isSyntaxError) io.stderr.write(error.complaint);
  reportError(io, isSyntaxError ? BashSyntaxError.NOTE : messageOf(error));
  return isSyntaxError ? BashSyntaxError.EXIT_CODE : failureExitCode(result.code);
}

function reportError(io: CliIo, message: string): void {
  io.stderr.write(`${colorsFor(io, "stderr").red("nacre:")} ${message}\n`);
}

/** Turns `help UNKNOWN` into `UNKNOWN`, because commander would print the general help instead of an error. */
function normalizeArguments({ commands }: Command, args: readonly string[]): readonly string[] {
  const [first, second] = args;
  if (first === "-V") return ["-v"];
  if (first === "help" && second === "help") return ["help"];
  const isUnknown = second !== undefined && !commands.some((one) => namesOf(one).includes(second));
  return first === "help" && isUnknown ? args.slice(1) : args;
}

function namesOf(command: Command): string[] {
  return [command.name(), ...command.aliases()];
}

/** With --json, nacre also prints an error as a JSON object. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes("--json");
}

/** undefined if commander printed the help or the version. */
function describeUsageError(
  { code, exitCode, message }: CommanderError,
  args: readonly string[],
  known: readonly string[],
): string | undefined {
  if (exitCode === 0 || code === "commander.help") return undefined;
  // commander's message is `error: …`, with a suggestion on the second line.
  const [first = "", ...rest] = message.trim().split("\n");
  const problem = first
    .replace(/^error: /, "")
    .replace(/^command-argument value ('.*') is invalid for argument '(.*?)'/, "$2 $1 is invalid");
  const [wrong = ""] = args[0] === "help" ? args.slice(1) : args;
  const near = code === "commander.unknownCommand" ? nearestCommand(wrong, known) : undefined;
  const hints = near ? [`Did you mean ${near}?`] : rest.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  if (code === "commander.unknownOption" && problem.includes("'--remote"))
    hints.splice(0, hints.length, "Put it before the command: nacre --remote URL COMMAND.");
  if (hints.length === 0 && code === "commander.unknownOption" && ["run", "check"].includes(args[0] ?? "")) {
    hints.push("Options before the command must be nacre's own: see nacre run --help.");
  }
  if (hints.length === 0 && EXPLAINED_BY_HELP.has(code)) {
    const [command = "-"] = args;
    const isKnown = !command.startsWith("-") && code !== "commander.unknownCommand";
    hints.push(`See nacre ${isKnown ? `${command} ` : ""}--help.`);
  }
  return hints.length === 0 ? problem : `${problem.replace(/[.]?$/, ".")} ${hints.join(" ")}`;
}

function nearestCommand(wrong: string, known: readonly string[]): string | undefined {
  // A bash command without `run` in front.
  if (/\s/.test(wrong)) return `nacre run ${quoteArguments([wrong])}`;
  return HABITS[wrong] ?? nearest(wrong, known);
}

/** Command names of other tools that people may type. */
const HABITS: Readonly<Record<string, string>> = {
  ...{ list: "ps", status: "ps", jobs: "ps", top: "ps --watch" },
  ...{ log: "output", tail: "output --follow", cat: "output" },
  ...{ exec: "run", start: "run -b", sh: "run", bash: "run" },
  ...{ stop: "kill", rm: "clean", prune: "clean", session: "sessions" },
  ...{ settings: "config", version: "--version", demo: "tour" },
};

const SHORT_HELP = `Usage: nacre <command>

  nacre run 'make test'       run a command; its output and exit code pass through
  nacre run -b 'npm run dev'  start it in the background; prints an id
  nacre ps                    list shells; nacre output ID, nacre kill ID
  nacre check 'rm -rf ~'      ask the policy; runs nothing
  nacre init CLIENT           configure an agent

\`nacre tour\` shows what nacre does with a few real commands. \`nacre --help\` lists everything.
`;

const EXPLAINED_BY_HELP = new Set([
  "commander.unknownCommand",
  "commander.unknownOption",
  "commander.missingArgument",
  "commander.optionMissingArgument",
  "commander.excessArguments",
]);
