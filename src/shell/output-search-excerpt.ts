// The lines that a search shows: each match with the lines around it. Cuts a very long line to the part around the
// match. Runs in the worker thread, after the scan.
import { readRange } from "../engine/cursor.ts";
import { OUTPUT_SEARCH_LINE_MAX_CHARS, READ_CHUNK_BYTES, SEARCH_BLOCK_BYTES } from "../support/limits.ts";
import { boundaryAfter } from "../text/boundary.ts";
import type { SearchPattern } from "../text/search-pattern.ts";
import { plainText } from "../text/terminal.ts";
import type { StreamName } from "./follow-output.ts";
import type { OutputPart } from "./output-part.ts";
import type { FoundLine } from "./output-search-scan.ts";

export interface ShownLine {
  readonly stream: StreamName;
  readonly line: number;
  readonly text: string;
  /** False for a line of the context. */
  readonly isMatch: boolean;
  /** Where the line begins in its file. */
  readonly offset: number;
}

export interface ExcerptOptions {
  readonly stream: StreamName;
  readonly part: OutputPart;
  readonly pattern: SearchPattern | undefined;
  readonly contextLines: number;
}

const NEWLINE = 0x0a;

/** The matches with their context, in order, each line once. */
export function* shownLines(found: readonly FoundLine[], options: ExcerptOptions): Generator<ShownLine> {
  const { stream, part, contextLines } = options;
  let shown = 0;
  for (const [index, match] of found.entries()) {
    const before = contextLines === 0 ? [] : linesBefore(part, match, contextLines);
    for (const line of before) if (line.line > shown) yield toShown(line, false);
    yield toShown(match, true);
    shown = match.line;
    const next = found[index + 1]?.line ?? Number.POSITIVE_INFINITY;
    for (const line of contextLines === 0 ? [] : linesAfter(part, match, contextLines)) {
      if (line.line >= next) break;
      yield toShown(line, false);
      shown = line.line;
    }
  }

  function toShown(line: FoundLine, isMatch: boolean): ShownLine {
    const text = textOfLine(part.path, line, isMatch ? options.pattern : undefined);
    return { stream, line: line.line, text, isMatch, offset: line.start };
  }
}

function linesBefore({ path, from }: OutputPart, { line, start }: FoundLine, count: number): FoundLine[] {
  const lines: FoundLine[] = [];
  let end = start - 1;
  while (lines.length < count && end >= from) {
    const begin = lineStart(path, from, end);
    lines.unshift({ line: line - lines.length - 1, start: begin, end });
    end = begin - 1;
  }
  return lines;
}

/** The start of the line that ends at `end`. */
function lineStart(path: string, from: number, end: number): number {
  for (let stop = end; stop > from; ) {
    const start = Math.max(from, stop - READ_CHUNK_BYTES);
    const at = readRange(path, start, stop).lastIndexOf(NEWLINE);
    if (at >= 0) return start + at + 1;
    stop = start;
  }
  return from;
}

function linesAfter({ path, to }: OutputPart, { line, end }: FoundLine, count: number): FoundLine[] {
  const lines: FoundLine[] = [];
  for (let start = end + 1; lines.length < count && start < to; ) {
    const stop = lineEnd(path, start, to);
    lines.push({ line: line + lines.length + 1, start, end: stop });
    start = stop + 1;
  }
  return lines;
}

function lineEnd(path: string, start: number, to: number): number {
  for (let from = start; from < to; from += READ_CHUNK_BYTES) {
    const at = readRange(path, from, Math.min(to, from + READ_CHUNK_BYTES)).indexOf(NEWLINE);
    if (at >= 0) return from + at;
  }
  return to;
}

function textOfLine(path: string, { start, end, near }: FoundLine, pattern?: SearchPattern): string {
  if (end - start <= SEARCH_BLOCK_BYTES) {
    const text = plainText(readRange(path, start, end).toString("utf8").replace(/\r$/, ""));
    if (text.length <= OUTPUT_SEARCH_LINE_MAX_CHARS) return text;
    return excerpt(text, pattern?.find(text)?.[0] ?? 0, { size: end - start, isStart: true, isEnd: true });
  }
  const at = near ?? start;
  const from = Math.max(start, at - OUTPUT_SEARCH_LINE_MAX_CHARS);
  const to = Math.min(end, from + 4 * OUTPUT_SEARCH_LINE_MAX_CHARS);
  const text = plainText(readRange(path, from, to).toString("utf8"));
  const wanted = { size: end - start, isStart: from === start, isEnd: to === end };
  return excerpt(text, pattern?.find(text)?.[0] ?? 0, wanted);
}

/** The text around `at`, followed by the size of the whole line in bytes. */
function excerpt(
  text: string,
  at: number,
  { size, isStart, isEnd }: { readonly size: number; readonly isStart: boolean; readonly isEnd: boolean },
): string {
  const latest = Math.max(0, text.length - OUTPUT_SEARCH_LINE_MAX_CHARS);
  const wanted = Math.min(latest, Math.max(0, at - Math.floor(OUTPUT_SEARCH_LINE_MAX_CHARS / 4)));
  const from = wanted === 0 ? 0 : boundaryAfter(text, wanted);
  const to = Math.min(
    text.length,
    boundaryAfter(text, Math.min(text.length, from + OUTPUT_SEARCH_LINE_MAX_CHARS)),
  );
  const before = from > 0 || !isStart ? "…" : "";
  const after = to < text.length || !isEnd ? "…" : "";
  return `${before}${text.slice(from, to)}${after} [part of a line of ${size} bytes]`;
}
