// Formats rows as a table. If the terminal is too narrow, some columns shrink, and optional columns are dropped.
import { cutEnd, widthOf } from "./columns.ts";

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => string;
  readonly align?: "right";
  /** Colors the padded text. */
  readonly paint?: (text: string, row: T) => string;
  /** The column's minimum width if the table is too wide. Earlier columns shrink first. */
  readonly shrinksTo?: number;
  /** Whether the column is dropped if the table is still too wide. Later columns are dropped first. */
  readonly isOptional?: boolean;
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
  const optional = columns.findLastIndex(({ isOptional }) => isOptional);
  if (over > 0 && optional !== -1) {
    return table(rows, columns.toSpliced(optional, 1), { maxColumns, paintTitle });
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

/** Shrinks columns, and returns by how many terminal columns the table is still too wide. */
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
  const padding = " ".repeat(Math.max(0, width - widthOf(shown)));
  return column?.align === "right" ? padding + shown : shown + padding;
}
