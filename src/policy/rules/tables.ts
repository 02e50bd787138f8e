// Rules as tables: one row per program and verb, with what the command does.

import { POLICY_ROW_ARGUMENT_MAX_CHARS } from "../../support/limits.ts";
import { asksForHelp, type JudgedCommand } from "../facts.ts";
import { remembered } from "../remembered.ts";
import type { Check, Hit } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";

export interface Row {
  readonly program: RegExp;
  /** Matches the arguments, joined by single blanks. */
  readonly args: RegExp;
  readonly unless?: RegExp;
  /** What it would do, after the program's name. */
  readonly does: string;
}

/** A check that fires on the first row that matches. */
export function onRows(rows: readonly Row[]): Check {
  const rowsOf = remembered((program) => rows.filter((row) => row.program.test(program)));
  const check = (command: JudgedCommand): Hit | null => {
    const own = rowsOf(command.program);
    if (own.length === 0 || asksForHelp(command)) return null;
    const line = lineOf(command);
    const row = own.find(({ args, unless }) => args.test(line) && !unless?.test(line));
    return row ? { reason: `${shown(command.program)} would ${row.does}.` } : null;
  };
  return Object.assign(check, { needs: (program: string) => rowsOf(program).length > 0 });
}

function lineOf({ args }: JudgedCommand): string {
  return args.map(({ text }) => text.slice(0, POLICY_ROW_ARGUMENT_MAX_CHARS)).join(" ");
}
