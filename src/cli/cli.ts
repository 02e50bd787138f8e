// Words on the command line to commands. Data goes to stdout, everything else to stderr; the result is the
// exit code. Takes its surroundings as an argument, so that tests run it without a process of its own.
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { messageOf } from "../support/errors.ts";
import type { CliIo } from "./cli-io.ts";
import { runCommand } from "./commands/run.ts";
import { tour } from "./commands/tour.ts";

export async function runCli(words: readonly string[], io: CliIo): Promise<number> {
  let exitCode = 0;
  const done = (code: number) => {
    exitCode = code;
  };
  const program = createProgram(io, done);
  if (words.length === 0) {
    io.stdout.write(tour());
    return 0;
  }
  try {
    await program.parseAsync(words, { from: "user" });
    return exitCode;
  } catch (error) {
    // commander has said what is wrong by now, or has printed the help or the version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.stderr.write(`nacre: ${messageOf(error)}\n`);
    return 1;
  }
}

function createProgram(io: CliIo, done: (exitCode: number) => void): Command {
  const program = new Command("nacre")
    .description("The shell that AI agents should have had.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    });
  program
    .command("run")
    .description("run a command and pass its output and exit code through")
    .argument("<command...>", "one quoted command, or words that are joined by spaces")
    .option("--cwd <dir>", "where to run it", io.cwd)
    .action(async (command: string[], options: { cwd: string }) => {
      done(await runCommand(io, { command: command.join(" "), workingDir: options.cwd }));
    });
  return program;
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const parsed: { version?: string } = JSON.parse(text);
  return parsed.version ?? "unknown";
}
