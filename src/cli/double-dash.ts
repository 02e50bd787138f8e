// The `--` before the arguments of a command.
import type { Command } from "commander";

/**
 * Whether the operands follow a `--`. Refuses a `--` between operands: commander would remove it, which can change what
 * the command means (`git checkout -- file`).
 */
export function hasDoubleDash(
  args: readonly string[],
  operands: readonly string[],
  command: Command,
): boolean {
  const at = args.indexOf("--");
  if (at === -1) return false;
  if (operands.length > args.length - at - 1) {
    command.error(
      `error: the position of -- is ambiguous: write one before the whole command (nacre ${command.name()} -- ${operands[0]} …), and keep those that belong to it.`,
    );
  }
  return true;
}
