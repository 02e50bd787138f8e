// Runs one command line; the result is the exit code. Data goes to stdout, everything else to stderr. Takes its
// surroundings as an argument, so that tests run it without a process of its own.
import { type Command, CommanderError } from "commander";
import { type RefusalMetadata, refusalMetadata } from "../execution/refusal.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import type { CliIo } from "./cli-io.ts";
import { EXIT, failureExitCode } from "./exit-code.ts";
import { paintFor } from "./paint.ts";
import { createProgram } from "./program.ts";

export async function runCli(words: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const done = (code: number) => {
    exitCode = code;
  };
  try {
    const program = createProgram({ io, words, done });
    await program.parseAsync(wordsFor(program, words), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return await failed(io, error, words);
    const mistake = mistakeOf(error, words);
    if (mistake !== undefined) tell(io, mistake);
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
}

/** What was asked could not be done, or was not allowed. */
async function failed(io: CliIo, error: unknown, words: readonly string[]): Promise<number> {
  const { NotBash, resultOfNotBash } = await import("../execution/syntax-check.ts");
  const { ToolResult } = await import("../tool/result.ts");
  const code = error instanceof NacreError ? error.code : "internal";
  const isNotBash = error instanceof NotBash;
  if (wantsJson(words)) {
    const result = isNotBash
      ? resultOfNotBash(error)
      : ToolResult.fail<RefusalMetadata>(messageOf(error), { code, metadata: refusalMetadata(error) });
    io.stdout.write(`${JSON.stringify(result.toWire())}\n`);
  }
  // What bash says of it, and the exit code, are those of the command.
  if (isNotBash) io.stderr.write(error.complaint);
  tell(io, isNotBash ? NotBash.NOTE : messageOf(error));
  return isNotBash ? NotBash.EXIT_CODE : failureExitCode(code);
}

function tell(io: CliIo, words: string): void {
  io.stderr.write(`${paintFor(io, "stderr").red("nacre:")} ${words}\n`);
}

function wordsFor({ commands }: Command, words: readonly string[]): readonly string[] {
  if (words.length === 0) return ["tour"];
  const [first, second] = words;
  // commander would show the help of everything, and not say that it knows no such command.
  if (first === "help" && second === "help") return ["help"];
  const isUnknown = second !== undefined && !commands.some((command) => command.name() === second);
  return first === "help" && isUnknown ? words.slice(1) : words;
}

/** A caller that asked for one JSON object gets one, whatever happens. */
function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return (end < 0 ? words : words.slice(0, end)).includes("--json");
}

/** undefined where the help or the version was printed. */
function mistakeOf(
  { code, exitCode, message }: CommanderError,
  words: readonly string[],
): string | undefined {
  if (exitCode === 0 || code === "commander.help") return undefined;
  // commander says `error: …` and puts what it suggests on a line of its own.
  const [first = "", ...rest] = message.trim().split("\n");
  const said = first.replace(/^error: /, "");
  const more = rest.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  if (more.length === 0 && code === "commander.unknownOption" && ["run", "check"].includes(words[0] ?? "")) {
    more.push("Options of the command itself go behind a --, or into one quoted line.");
  }
  if (more.length === 0 && EXPLAINED_BY_HELP.has(code)) {
    const [word = "-"] = words;
    const isKnown = !word.startsWith("-") && code !== "commander.unknownCommand";
    more.push(`See nacre ${isKnown ? `${word} ` : ""}--help.`);
  }
  return more.length === 0 ? said : `${said.replace(/[.]?$/, ".")} ${more.join(" ")}`;
}

const EXPLAINED_BY_HELP = new Set([
  "commander.unknownCommand",
  "commander.unknownOption",
  "commander.missingArgument",
  "commander.optionMissingArgument",
  "commander.excessArguments",
]);
