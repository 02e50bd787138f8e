// The `--` before the words of a command.
import type { Command } from "commander";

/**
 * Whether the words of the command stand behind a `--`. One among them is refused: commander takes it away, and the
 * command would do something else without it (`git checkout -- file`).
 */
export function haveDashes(words: readonly string[], given: readonly string[], command: Command): boolean {
  const at = words.indexOf("--");
  if (at === -1) return false;
  if (given.length > words.length - at - 1) {
    command.error(
      `error: a -- among the words of the command is not clear: write one before them all (nacre ${command.name()} -- ${given[0]} …), and keep those that the command is to get.`,
    );
  }
  return true;
}
