// What the words of every command are made with.
import type { CliIo } from "./cli-io.ts";

export interface ProgramOptions {
  readonly io: CliIo;
  /** Takes the exit code of the command that was run. */
  readonly done: (exitCode: number) => void;
  /** The words it will be given: commander does not tell whether there was a `--` among them. */
  readonly words: readonly string[];
}
