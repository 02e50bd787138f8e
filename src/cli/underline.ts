// Shows the line of a command in which a finding starts, with the finding underlined.
import {
  UNDERLINED_CONTEXT_COLUMNS,
  UNDERLINED_MAX_COLUMNS,
  UNDERLINED_MIN_COLUMNS,
} from "../support/limits.ts";
import { printable } from "../support/printable.ts";
import { cutEnd, widthOf } from "./columns.ts";

export interface UnderlineOptions {
  readonly maxColumns?: number | undefined;
  readonly paint?: (text: string) => string;
}

const INDENT = "  ";

/**
 * The line in which the span starts, and a line with marks below the span. If the span has several lines, only its
 * first line is marked.
 */
export function underline(
  text: string,
  span: { readonly start: number; readonly end: number },
  { maxColumns = UNDERLINED_MAX_COLUMNS, paint = (mark) => mark }: UnderlineOptions = {},
): string {
  const from = text.lastIndexOf("\n", span.start - 1) + 1;
  const newline = text.indexOf("\n", span.start);
  const to = newline === -1 ? text.length : newline;
  const shown = (start: number, end: number) => printable(text.slice(start, end)).replaceAll("\t", " ");
  const width = Math.max(UNDERLINED_MIN_COLUMNS, maxColumns - INDENT.length);
  // Cut a long line to the span with a little context before it.
  const context = Math.min(UNDERLINED_CONTEXT_COLUMNS, Math.floor(width / 2));
  const start =
    widthOf(shown(from, to)) <= width ? from : span.start - endOf(text.slice(from, span.start), context);
  const before = (start > from ? "…" : "") + shown(start, span.start);
  const part = shown(span.start, Math.max(span.start, Math.min(span.end, to)));
  const line = cutEnd(before + part + shown(Math.min(span.end, to), to), width);
  const marks = "^".repeat(Math.max(1, Math.min(widthOf(part), width - widthOf(before))));
  return `${INDENT}${line}\n${INDENT}${" ".repeat(widthOf(before))}${paint(marks)}\n`;
}

/** The length of the longest end of the text that fits into `maxColumns`. */
function endOf(text: string, maxColumns: number): number {
  let kept = "";
  for (const char of [...text].reverse()) {
    if (widthOf(printable(char + kept)) > maxColumns) break;
    kept = char + kept;
  }
  return kept.length;
}
