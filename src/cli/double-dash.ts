// Separates nacre's options from the command. nacre's options go before the command, and everything after the
// command's first word belongs to the command. A `--` marks explicitly where the command begins.
import type { Command } from "commander";
import { quoteArguments } from "./quote-arguments.ts";

/** Whether the operands follow a `--`. A later `--` belongs to the command (`git checkout -- file`). */
export function hasDoubleDash(args: readonly string[], operands: readonly string[]): boolean {
  const at = args.indexOf("--");
  return at !== -1 && operands.length === args.length - at - 1;
}

/**
 * Refuses a command followed only by options that nacre has, too: they were probably meant for nacre. After a `--`,
 * they belong to the command.
 */
export function refuseLateOptions(
  command: Command,
  args: readonly string[],
  operands: readonly string[],
): void {
  const [script = "", ...rest] = operands;
  if (rest.length === 0 || !rest[0]?.startsWith("-") || hasDoubleDash(args, operands)) return;
  if (!areOwnOptions(command, rest)) return;
  // The first argument is the name of the command.
  const before = args.slice(1, args.length - operands.length);
  const write = (...words: string[]) => `nacre ${quoteArguments([command.name(), ...before, ...words])}`;
  const right = `error: nacre's options go before the command: ${write(...rest, script)}`;
  // Do not suggest -- for a script of several words: after --, nacre would take the whole script as the name of a
  // program.
  const other = `. If they belong to the command, write -- before it: ${write("--", script, ...rest)}`;
  command.error(/\s/.test(script) ? right : right + other);
}

/** Checks only the names: parsing the values with commander would also store them. */
function areOwnOptions(command: Command, words: readonly string[]): boolean {
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [name = ""] = word.split("=", 1);
    const option = command.options.find(({ short, long }) => name === short || name === long);
    if (!option) return false;
    const takesNext = (option.required || option.optional) && !word.includes("=");
    if (takesNext && left.shift() === undefined) return false;
  }
  return true;
}
