// Formats the lines of a file for a model: numbered, without secrets, and with long lines cut. Redaction never changes
// line numbers: a secret that spans several lines leaves its mark on each of them.
import { type SecretSpan, secretSpans } from "../environment/redact.ts";
import type { ResolvedExecutionOptions } from "../execution/execution-options.ts";
import { READ_LINE_MAX_CHARS, READ_LINE_SEARCH_MAX_CHARS, REDACT_HOLD_MAX_CHARS } from "../support/limits.ts";
import { boundaryBefore } from "../text/boundary.ts";

export interface ShownLines {
  readonly text: string;
  /** Number of secrets that were replaced by a mark. */
  readonly redacted: number;
  /** Numbers of the lines that were cut. */
  readonly cut: readonly number[];
  /** Number of the last line in `text`. */
  readonly last: number;
}

/** The positions where the lines of a text start. A line feed at the end of the text does not start another line. */
export function lineStarts(text: string): number[] {
  if (text === "") return [];
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1 && at + 1 < text.length; at = text.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** The lines [first, last], counted from 1, up to `limitChars` of output. */
export function showLines(
  text: string,
  starts: readonly number[],
  { first, last, limitChars }: { readonly first: number; readonly last: number; readonly limitChars: number },
  options: ResolvedExecutionOptions,
): ShownLines {
  const spans = spansIn(text, shownRanges(text, starts, first, last), options);
  const parts: string[] = [];
  const cut: number[] = [];
  const seen = new Set<number>();
  let size = 0;
  let number = first;
  for (; number <= last && (size < limitChars || number === first); number++) {
    const start = starts[number - 1] ?? text.length;
    const line = oneLine(text, start, starts[number] ?? text.length, spans, seen);
    if (line.more > 0) cut.push(number);
    const more = line.more > 0 ? `… [line ${number} is cut: ${line.more} more characters]` : "";
    const shown = `${number}\t${line.text}${more}\n`;
    parts.push(shown);
    size += shown.length;
  }
  return { text: parts.join(""), redacted: seen.size, cut, last: number - 1 };
}

/**
 * The parts of the text that can be shown. The hidden rest of a long line separates two parts. Joins parts that are
 * close together.
 */
function shownRanges(text: string, starts: readonly number[], first: number, last: number): TextRange[] {
  const ranges: TextRange[] = [];
  for (let number = first; number <= last; number++) {
    const from = starts[number - 1] ?? text.length;
    const to = Math.min(starts[number] ?? text.length, from + READ_LINE_SEARCH_MAX_CHARS);
    const before = ranges.at(-1);
    if (before && from - before.to <= 2 * REDACT_HOLD_MAX_CHARS)
      ranges[ranges.length - 1] = { from: before.from, to };
    else ranges.push({ from, to });
  }
  return ranges;
}

interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** The secrets in these ranges. Detection also reads the text around each range. */
function spansIn(
  text: string,
  ranges: readonly TextRange[],
  options: ResolvedExecutionOptions,
): readonly SecretSpan[] {
  if (!options.redact) return [];
  const values = options.manager().environment.droppedValues;
  return ranges.flatMap(({ from, to }) => {
    const start = Math.max(0, from - REDACT_HOLD_MAX_CHARS);
    const around = text.slice(start, Math.min(text.length, to + REDACT_HOLD_MAX_CHARS));
    return secretSpans(around, { values })
      .map(({ at, end, mark }) => ({ at: at + start, end: end + start, mark }))
      .filter(({ at, end }) => at < to && end > from);
  });
}

function oneLine(
  text: string,
  start: number,
  next: number,
  spans: readonly SecretSpan[],
  seen: Set<number>,
): { readonly text: string; readonly more: number } {
  let end = next;
  if (text[end - 1] === "\n") end -= text[end - 2] === "\r" && end - 2 >= start ? 2 : 1;
  const parts: string[] = [];
  let at = start;
  const stop = Math.min(end, start + READ_LINE_SEARCH_MAX_CHARS);
  for (const span of spans) {
    if (span.end <= at || span.at >= stop) continue;
    parts.push(text.slice(at, Math.max(at, span.at)), span.mark);
    seen.add(span.at);
    at = Math.min(end, span.end);
  }
  parts.push(text.slice(at, Math.max(at, stop)));
  const shown = parts.join("");
  if (shown.length <= READ_LINE_MAX_CHARS)
    return { text: shown, more: Math.max(0, end - Math.max(at, stop)) };
  const kept = boundaryBefore(shown, READ_LINE_MAX_CHARS);
  return { text: shown.slice(0, kept), more: shown.length - kept + Math.max(0, end - Math.max(at, stop)) };
}
