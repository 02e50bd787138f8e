// Runs one command line and returns the exit code. Takes its streams as an argument, so that tests can run it in their
// own process.
import { type Command, CommanderError } from "commander";
import { messageOf } from "../support/errors.ts";
import type { CliIo } from "./cli-io.ts";
import { colorsFor } from "./colors.ts";
import { EXIT, failureExitCode } from "./exit-code.ts";
import { printJson } from "./print.ts";
import { createProgram } from "./program.ts";

export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const done = (code: number) => {
    exitCode = code;
  };
  try {
    const program = createProgram({ io, args, done });
    await program.parseAsync(normalizeArguments(program, args), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return await failed(io, error, args);
    const message = describeUsageError(error, args);
    if (message !== undefined) reportError(io, message);
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** Reports that a command failed or was refused. */
async function failed(io: CliIo, error: unknown, args: readonly string[]): Promise<number> {
  const { NotBash } = await import("../execution/syntax-check.ts");
  const { notRunResult } = await import("../execution/endings.ts");
  const isNotBash = error instanceof NotBash;
  const result = notRunResult(error);
  if (wantsJson(args)) printJson(io, result.toWire());
  // As if bash had run it: its error message and its exit code.
  if (isNotBash) io.stderr.write(error.complaint);
  reportError(io, isNotBash ? NotBash.NOTE : messageOf(error));
  return isNotBash ? NotBash.EXIT_CODE : failureExitCode(result.code);
}

function reportError(io: CliIo, message: string): void {
  io.stderr.write(`${colorsFor(io, "stderr").red("nacre:")} ${message}\n`);
}

/** Without arguments: the tour. For `help UNKNOWN`: the unknown command, because commander would print the general help. */
function normalizeArguments({ commands }: Command, args: readonly string[]): readonly string[] {
  if (args.length === 0) return ["tour"];
  const [first, second] = args;
  if (first === "help" && second === "help") return ["help"];
  const isUnknown = second !== undefined && !commands.some((command) => command.name() === second);
  return first === "help" && isUnknown ? args.slice(1) : args;
}

/** With --json, errors are printed as a JSON object too. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes("--json");
}

/** undefined if commander printed the help or the version. */
function describeUsageError(
  { code, exitCode, message }: CommanderError,
  args: readonly string[],
): string | undefined {
  if (exitCode === 0 || code === "commander.help") return undefined;
  // commander prints `error: …` and its suggestion on a second line.
  const [first = "", ...rest] = message.trim().split("\n");
  const problem = first.replace(/^error: /, "");
  const hints = rest.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  if (hints.length === 0 && code === "commander.unknownOption" && ["run", "check"].includes(args[0] ?? "")) {
    hints.push("Put options of the command itself after --, or quote the whole command.");
  }
  if (hints.length === 0 && EXPLAINED_BY_HELP.has(code)) {
    const [command = "-"] = args;
    const isKnown = !command.startsWith("-") && code !== "commander.unknownCommand";
    hints.push(`See nacre ${isKnown ? `${command} ` : ""}--help.`);
  }
  return hints.length === 0 ? problem : `${problem.replace(/[.]?$/, ".")} ${hints.join(" ")}`;
}

const EXPLAINED_BY_HELP = new Set([
  "commander.unknownCommand",
  "commander.unknownOption",
  "commander.missingArgument",
  "commander.optionMissingArgument",
  "commander.excessArguments",
]);
