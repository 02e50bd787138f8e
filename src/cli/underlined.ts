// One line of a text with a part of it underlined.
import { cutEnd, printable, widthOf } from "./printable.ts";

export interface UnderlineOptions {
  readonly maxColumns?: number | undefined;
  readonly paint?: (text: string) => string;
}

const INDENT = "  ";

/** The line in which the part begins, and below it a mark under as much of the part as stands in that line. */
export function underlined(
  text: string,
  span: { readonly start: number; readonly end: number },
  { maxColumns = 100, paint = (mark) => mark }: UnderlineOptions = {},
): string {
  const from = text.lastIndexOf("\n", span.start - 1) + 1;
  const newline = text.indexOf("\n", span.start);
  const to = newline === -1 ? text.length : newline;
  const shown = (start: number, end: number) => printable(text.slice(start, end)).replaceAll("\t", " ");
  const room = Math.max(20, maxColumns - INDENT.length);
  // Of a long line the part itself, with a little of what comes before it.
  const context = Math.min(CONTEXT_COLUMNS, Math.floor(room / 2));
  const start =
    widthOf(shown(from, to)) <= room ? from : span.start - endOf(text.slice(from, span.start), context);
  const before = (start > from ? "…" : "") + shown(start, span.start);
  const part = shown(span.start, Math.max(span.start, Math.min(span.end, to)));
  const line = cutEnd(before + part + shown(Math.min(span.end, to), to), room);
  const marks = "^".repeat(Math.max(1, Math.min(widthOf(part), room - widthOf(before))));
  return `${INDENT}${line}\n${INDENT}${" ".repeat(widthOf(before))}${paint(marks)}\n`;
}

const CONTEXT_COLUMNS = 20;

/** How much of the end of a text fits into so many columns. */
function endOf(text: string, maxColumns: number): number {
  let kept = "";
  for (const char of [...text].reverse()) {
    if (widthOf(printable(char + kept)) > maxColumns) break;
    kept = char + kept;
  }
  return kept.length;
}
