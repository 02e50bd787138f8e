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
  const start = widthOf(shown(from, to)) <= room ? from : Math.max(from, span.start - CONTEXT_CHARS);
  const before = (start > from ? "…" : "") + shown(start, span.start);
  const part = shown(span.start, Math.max(span.start, Math.min(span.end, to)));
  const line = cutEnd(before + part + shown(Math.min(span.end, to), to), room);
  const marks = "^".repeat(Math.max(1, Math.min(widthOf(part), room - widthOf(before))));
  return `${INDENT}${line}\n${INDENT}${" ".repeat(widthOf(before))}${paint(marks)}\n`;
}

const CONTEXT_CHARS = 20;
