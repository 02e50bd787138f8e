// The border between nacre's options and the command. nacre's options go before the command, and everything after the
// command's first word belongs to the command. A `--` marks the border explicitly.
import type { Command } from "commander";
import { quoteArguments } from "./quote-arguments.ts";

/** Whether the operands follow a `--`. A later `--` belongs to the command (`git checkout -- file`). */
export function hasDoubleDash(args: readonly string[], operands: readonly string[]): boolean {
  const at = args.indexOf("--");
  return at !== -1 && operands.length === args.length - at - 1;
}

/** Refuses a script of one word that only nacre's own options follow, because these were meant for nacre. */
export function refuseLateOptions(command: Command, operands: readonly string[]): void {
  const [script = "", ...rest] = operands;
  if (rest.length === 0 || !rest[0]?.startsWith("-") || !areOwnOptions(command, rest)) return;
  const [options, right] = [quoteArguments(rest), quoteArguments([script])];
  const name = command.name();
  command.error(
    `error: nacre's options go before the command: nacre ${name} ${options} ${right}. If they belong to the command, write -- before it: nacre ${name} -- ${right} ${options}`,
  );
}

/** Checks only the names, because reading the values would store them. */
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
