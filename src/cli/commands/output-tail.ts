// Finds the start of the last lines of an output. Reads backwards, because the output can be gigabytes long.
import { readRange } from "../../engine/cursor.ts";
import type { SpoolPart } from "../../execution/spool-text.ts";
import { FILTER_LINE_MAX_CHARS, READ_CHUNK_BYTES } from "../../support/limits.ts";
import { filterLines, type LinePattern } from "../../text/filter.ts";

const NEWLINE = 0x0a;

/** The offset of the first byte of the last `lines` lines. */
export function tailOf({ path, from, to }: SpoolPart, lines: number): number {
  if (lines === 0) return to;
  // The newline at the end of the last line does not start another line.
  let end = to - 1;
  let left = lines;
  while (end > from) {
    const start = Math.max(from, end - READ_CHUNK_BYTES);
    const bytes = readRange(path, start, end);
    for (
      let at = bytes.lastIndexOf(NEWLINE);
      at !== -1;
      at = at === 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1)
    ) {
      if (--left === 0) return start + at + 1;
    }
    end = start;
  }
  return from;
}

/** The offset at which the line with the byte at `offset` begins. */
export function lineStart(part: SpoolPart, offset: number): number {
  return offset <= part.from ? part.from : tailOf({ ...part, to: offset + 1 }, 1);
}

/** Like tailOf, but counts only matching lines. */
export function matchingTailOf({ path, from, to }: SpoolPart, lines: number, pattern: LinePattern): number {
  if (lines === 0) return to;
  let left = lines;
  // The end of a line whose beginning has not been read yet.
  let open = Buffer.alloc(0);
  for (let end = to; end > from; ) {
    const start = Math.max(from, end - READ_CHUNK_BYTES);
    const bytes = Buffer.concat([readRange(path, start, end), open]);
    let lineEnd = bytes.length;
    while (lineEnd > 0) {
      const lineStart = lineEnd === 1 ? 0 : bytes.lastIndexOf(NEWLINE, lineEnd - 2) + 1;
      // Read more of the line first, unless the line is already longer than a filter reads.
      if (lineStart === 0 && start > from && lineEnd <= FILTER_LINE_MAX_CHARS) break;
      const line = bytes.subarray(lineStart, lineEnd).toString();
      if (filterLines(line, pattern).kept > 0 && --left === 0) return start + lineStart;
      lineEnd = lineStart;
    }
    open = bytes.subarray(0, lineEnd);
    end = start;
  }
  return from;
}

export function lastLines(text: string, lines: number): string {
  const all = text.split("\n");
  const ended = all.at(-1) === "" ? 1 : 0;
  return lines === 0 ? "" : all.slice(-lines - ended).join("\n");
}
