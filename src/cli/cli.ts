// Runs one command line; the result is the exit code. Data goes to stdout, everything else to stderr. Takes its
// surroundings as an argument, so that tests run it without a process of its own.
import { CommanderError } from "commander";
import { messageOf } from "../support/errors.ts";
import type { CliIo } from "./cli-io.ts";
import { EXIT } from "./exit-code.ts";
import { paintFor } from "./paint.ts";
import { createProgram } from "./program.ts";

export async function runCli(words: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok;
  const done = (code: number) => {
    exitCode = code;
  };
  try {
    await createProgram({ io, words, done }).parseAsync(words.length === 0 ? ["tour"] : words, {
      from: "user",
    });
    return exitCode;
  } catch (error) {
    // commander has said what is wrong by now, or has printed the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.stderr.write(`${paintFor(io, "stderr").red("nacre:")} ${messageOf(error)}\n`);
    return EXIT.failed;
  }
}
