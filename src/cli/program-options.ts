// What the functions in definitions/ need to define a command.
import type { CliIo } from "./cli-io.ts";

export interface ProgramOptions {
  readonly io: CliIo;
  /** Receives the exit code of the command. */
  readonly done: (exitCode: number) => void;
  /** The raw arguments: commander does not report whether they contain `--`. */
  readonly args: readonly string[];
  /** Runs another command line, for clients of the daemon. */
  readonly runLine?: (args: readonly string[], io: CliIo) => Promise<number>;
}
