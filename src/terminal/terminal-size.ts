// Checks and stores the size of a terminal. The file `sizes` of a shell lists every later size with the position in the
// output at which it took effect, so that another host draws the same screen from the same bytes.
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

/** The size with defaults. Throws for a size that no terminal has. */
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

/** In the order of the output. */
export function readSizes(file: string): SizeChange[] {
  const text = attempt(() => readFileSync(file, "latin1")) ?? "";
  return text.split("\n").flatMap((line) => {
    const [at = -1, rows = 0, cols = 0] = line.split(" ").map(Number);
    return at >= 0 && isTerminalSize({ rows, cols }) ? [{ at, rows, cols }] : [];
  });
}
