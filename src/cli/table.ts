// Rows in columns. Some columns give way where the terminal is too narrow for all, and go where that is not enough.
import { cutEnd, widthOf } from "./printable.ts";

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => string;
  readonly align?: "right";
  /** Called with the padded text. */
  readonly paint?: (text: string, row: T) => string;
  /** Gives way down to so many columns: the first such column first. */
  readonly shrinksTo?: number;
  /** Left out where there is no room for all, the last such column first. */
  readonly goesFirst?: boolean;
  readonly shorten?: (text: string, maxColumns: number) => string;
}

const GAP = "  ";

export function table<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  {
    maxColumns,
    paintTitle = (text) => text,
  }: { maxColumns?: number | undefined; paintTitle?: (text: string) => string },
): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ""))),
  );
  const over = shrink(widths, columns, maxColumns);
  const dispensable = columns.findLastIndex(({ goesFirst }) => goesFirst);
  if (over > 0 && dispensable !== -1) {
    return table(rows, columns.toSpliced(dispensable, 1), { maxColumns, paintTitle });
  }
  const lineOf = (texts: readonly string[], paint: (text: string, index: number) => string) =>
    texts
      .map((text, index) => paint(padded(text, widths[index] ?? 0, columns[index]), index))
      .join(GAP)
      .trimEnd();
  const title = lineOf(
    columns.map(({ title: name }) => name),
    (text) => paintTitle(text),
  );
  const lines = rows.map((row, at) =>
    lineOf(cells[at] ?? [], (text, index) => columns[index]?.paint?.(text, row) ?? text),
  );
  return [title, ...lines].map((line) => `${line}\n`).join("");
}

/** Returns how much too wide it still is. */
function shrink(widths: number[], columns: readonly Column<never>[], maxColumns: number | undefined): number {
  if (maxColumns === undefined) return 0;
  let over = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - maxColumns;
  for (const [index, { shrinksTo }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (over <= 0 || shrinksTo === undefined || width <= shrinksTo) continue;
    const less = Math.min(over, width - shrinksTo);
    widths[index] = width - less;
    over -= less;
  }
  return over;
}

function padded(text: string, width: number, column: Column<never> | undefined): string {
  const shown = (column?.shorten ?? cutEnd)(text, width);
  const room = " ".repeat(Math.max(0, width - widthOf(shown)));
  return column?.align === "right" ? room + shown : shown + room;
}
