// Rules that are tables: a program, its verb, and what that does. One row per thing worth asking about.

import { asksForHelp, type JudgedCommand } from "../facts.ts";
import { shown } from "../marks.ts";
import type { Hit } from "../rule.ts";

export interface Row {
  readonly program: RegExp;
  /** Fits the arguments, joined by single blanks. */
  readonly args: RegExp;
  readonly unless?: RegExp;
  /** What it would do, after the program's name. */
  readonly does: string;
}

/** A check that fires on the first row that fits. */
export function onRows(rows: readonly Row[]): (command: JudgedCommand) => Hit | null {
  return (command) => {
    let line: string | null = null;
    for (const row of rows) {
      if (!row.program.test(command.program)) continue;
      line ??= lineOf(command);
      if (!row.args.test(line) || row.unless?.test(line) || asksForHelp(command)) continue;
      return { reason: `${shown(command.program)} would ${row.does}.` };
    }
    return null;
  };
}

const LINE_MAX_CHARS = 8_192;

function lineOf({ args }: JudgedCommand): string {
  return args
    .map(({ text }) => text)
    .join(" ")
    .slice(0, LINE_MAX_CHARS);
}
