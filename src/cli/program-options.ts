// The arguments of every command definition.
import type { CliIo } from "./cli-io.ts";

export interface ProgramOptions {
  readonly io: CliIo;
  /** Receives the exit code of the command. */
  readonly done: (exitCode: number) => void;
  /** The raw arguments: commander does not report whether they contain `--`. */
  readonly args: readonly string[];
}
