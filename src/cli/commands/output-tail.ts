// Where the last lines of an output begin. Read from behind: the output may have gigabytes.
import type { SpoolPart } from "../../execution/spool-text.ts";
import { readRange } from "../../spool/cursor.ts";
import { READ_CHUNK_BYTES } from "../../support/limits.ts";

const NEWLINE = 0x0a;

/** The place of the first byte of the last `lines` lines. */
export function tailOf({ path, from, to }: SpoolPart, lines: number): number {
  if (lines === 0) return to;
  // The end of the last line does not begin another one.
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

export function lastLines(text: string, lines: number): string {
  const all = text.split("\n");
  const ended = all.at(-1) === "" ? 1 : 0;
  return lines === 0 ? "" : all.slice(-lines - ended).join("\n");
}
