// Short comparisons of text for messages: the changes between two versions, and the lines most similar to a text.
import {
  DIFFERENCE_LINES_MAX_COUNT,
  NEAREST_LINE_MAX_CHARS,
  NEAREST_LINE_MIN_SHARE,
  NEAREST_LINES_MAX_COUNT,
  NEAREST_SEARCH_LINES_MAX_COUNT,
} from "../support/limits.ts";

/** The changed lines as `-3<tab>old`, `+3<tab>new`, without the equal lines at the start and at the end. */
export function differenceOf(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const removed = numbered("-", old.slice(start, old.length - end), start);
  const added = numbered("+", now.slice(start, now.length - end), start);
  return [...removed, ...added].join("\n");
}

function numbered(sign: string, lines: readonly string[], start: number): string[] {
  const shown = lines
    .slice(0, DIFFERENCE_LINES_MAX_COUNT)
    .map((line, i) => `${sign}${start + i + 1}\t${cut(line.replace(/\r$/, ""))}`);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `${sign} and ${more} more lines`] : shown;
}

/** ` The nearest lines:` and the lines, or "" if no line is similar. */
export function nearestLines(text: string, wanted: string): string {
  const lines = wanted.split("\n").map((line) => line.trim());
  // The longest line is the best clue to the location.
  const longest = lines.reduce((best, line) => (line.length > best.length ? line : best), "");
  const pairs = pairsOf(longest.slice(0, NEAREST_LINE_MAX_CHARS));
  if (pairs.size === 0) return "";
  const near = text
    .split("\n", NEAREST_SEARCH_LINES_MAX_COUNT)
    .map((line, i) => ({ line: line.replace(/\r$/, ""), number: i + 1 }))
    .map((one) => ({ ...one, share: similarity(pairs, one.line.trim().slice(0, NEAREST_LINE_MAX_CHARS)) }))
    .filter(({ share }) => share >= NEAREST_LINE_MIN_SHARE)
    .sort((a, b) => b.share - a.share || a.number - b.number)
    .slice(0, NEAREST_LINES_MAX_COUNT)
    .sort((a, b) => a.number - b.number);
  if (near.length === 0) return "";
  return ` The nearest lines:\n${near.map(({ number, line }) => `${number}\t${cut(line)}`).join("\n")}\n`;
}

/** The share of equal pairs of neighboring characters (Dice coefficient). */
function similarity(pairs: ReadonlyMap<string, number>, line: string): number {
  let size = 0;
  for (const count of pairs.values()) size += count;
  const own = pairsOf(line);
  let ownSize = 0;
  let shared = 0;
  for (const [pair, count] of own) {
    ownSize += count;
    shared += Math.min(count, pairs.get(pair) ?? 0);
  }
  return ownSize === 0 ? 0 : (2 * shared) / (size + ownSize);
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let i = 0; i + 1 < text.length; i++) {
    const pair = text.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function cut(line: string): string {
  return line.length > NEAREST_LINE_MAX_CHARS ? `${line.slice(0, NEAREST_LINE_MAX_CHARS)}…` : line;
}
