// Checks that are written as tables. A table groups calls of programs by what the calls would do.

import { POLICY_ROW_ARGUMENT_MAX_CHARS } from "../../support/limits.ts";
import { asksForHelp, type JudgedCommand } from "../facts.ts";
import { remembered } from "../remembered.ts";
import type { Check, Hit } from "../rule.ts";
import { shown } from "../shell-model/marks.ts";

interface Row {
  readonly program: RegExp;
  /** Must match the arguments, joined by single spaces. */
  readonly args: RegExp;
  /** Must not match the arguments. */
  readonly unless?: RegExp;
}

/** A check that uses the first row that matches. Each key completes the reason `PROGRAM would …`. */
export function onRows(table: Readonly<Record<string, readonly Row[]>>): Check {
  const rows = Object.entries(table).flatMap(([does, group]) => group.map((row) => ({ ...row, does })));
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
