// Checks and stores the size of a terminal. The file `sizes` of a shell lists every size change with its position in
// the output. With this file, another host can draw the same screen from the same bytes.
import { appendFileSync, readFileSync } from "node:fs";
import { isTerminalSize, type TerminalSize } from "../engine/meta.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import {
  TERMINAL_COLS_COUNT,
  TERMINAL_ROWS_COUNT,
  TERMINAL_SIDE_MAX_COUNT,
  TERMINAL_SIDE_MIN_COUNT,
} from "../support/limits.ts";

export interface SizeChange extends TerminalSize {
  /** The number of bytes of output before the change. */
  readonly at: number;
}

/** Adds defaults to the size. Throws for a size outside the limits. */
export function terminalSizeOf({
  rows = TERMINAL_ROWS_COUNT,
  cols = TERMINAL_COLS_COUNT,
}: {
  readonly rows?: number | undefined;
  readonly cols?: number | undefined;
}): TerminalSize {
  if (isTerminalSize({ rows, cols })) return { rows, cols };
  throw new NacreError(
    "invalid_input",
    `A terminal cannot have ${rows} rows and ${cols} columns: give whole numbers from ${TERMINAL_SIDE_MIN_COUNT} to ${TERMINAL_SIDE_MAX_COUNT}, for example rows 24 and cols 80.`,
  );
}

export function appendSize(file: string, { at, rows, cols }: SizeChange): void {
  appendFileSync(file, `${at} ${rows} ${cols}\n`, { mode: 0o600 });
}

/** The size changes, in the order of the output. */
export function readSizes(file: string): SizeChange[] {
  const text = attempt(() => readFileSync(file, "latin1")) ?? "";
  return text.split("\n").flatMap((line) => {
    const [at = -1, rows = 0, cols = 0] = line.split(" ").map(Number);
    return at >= 0 && isTerminalSize({ rows, cols }) ? [{ at, rows, cols }] : [];
  });
}
