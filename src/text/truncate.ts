// Truncation of the `shells` dialect: keeps the start and the end of a text. The result, including the line that
// reports the cut, never exceeds the limit. That line reports how many characters and lines are left out. The input is
// only a head and a tail, because an output of 2 GiB must not be read into memory.
import { LINE_CUT_MAX_SHARE, OUTPUT_MAX_CHARS } from "../support/limits.ts";
import { boundaryAfter, boundaryBefore } from "./boundary.ts";
import { measureText, type TextSize } from "./decode.ts";

export interface TruncateOptions {
  /** Characters as `String.length` counts them. @default OUTPUT_MAX_CHARS */
  readonly limitChars?: number;
  /** The file with the whole output. */
  readonly outputFile?: string;
  /** Instead of a file: the id under which BashOutput shows the whole output. */
  readonly outputId?: string;
  /**
   * The heading of the last part of the text, with its newline. If the cut removes the heading, it is repeated after
   * the cut.
   */
  readonly heading?: { readonly line: string; readonly charsFromEnd: number };
}

/** The two ends of a text. The text is complete if `middle` is empty. */
export interface TextEnds {
  readonly head: string;
  /** The size of the unread part between head and tail. */
  readonly middle: TextSize;
  readonly tail: string;
}

export interface Truncated {
  readonly text: string;
  readonly truncated: boolean;
  readonly omitted: TextSize;
  readonly total: TextSize;
}

export function truncateText(text: string, options: TruncateOptions = {}): Truncated {
  return truncateEnds({ head: text, middle: NOTHING, tail: "" }, options);
}

/** Each end should be at least half as long as the limit; otherwise the result is shorter than necessary. */
export function truncateEnds(ends: TextEnds, options: TruncateOptions = {}): Truncated {
  const limitChars = Math.max(0, Math.floor(options.limitChars ?? OUTPUT_MAX_CHARS));
  const isWhole = ends.middle.characters === 0;
  const whole = isWhole ? ends.head + ends.tail : "";
  const total = isWhole
    ? measureText(whole)
    : addAll(measureText(ends.head), ends.middle, measureText(ends.tail));
  if (isWhole && total.characters <= limitChars)
    return { text: whole, truncated: false, omitted: NOTHING, total };

  const plan = planNotice(total, limitChars, whereRest(options));
  const { line = "", charsFromEnd = 0 } = plan.reservedChars === 0 ? {} : (options.heading ?? {});
  // The counts are known only after the cuts, so reserve space for the longest form of the notice.
  const textChars = limitChars - plan.reservedChars - line.length;
  const head = cutHead(isWhole ? whole : ends.head, Math.ceil(textChars / 2));
  const cut = cutTail(isWhole ? whole.slice(head.length) : ends.tail, Math.floor(textChars / 2));
  const isHeadingCut =
    cut.length < charsFromEnd + line.length && head.length < total.characters - charsFromEnd;
  const heading = isHeadingCut ? line : "";
  const tail = isHeadingCut ? cut.slice(-charsFromEnd) : cut;
  const kept = addAll(measureText(head), measureText(heading), measureText(tail));
  const omitted = { characters: total.characters - kept.characters, lines: total.lines - kept.lines };
  return { text: join(head, plan.write(omitted), heading + tail), truncated: true, omitted, total };
}

interface NoticePlan {
  readonly reservedChars: number;
  readonly write: (omitted: TextSize) => string;
}

function whereRest({ outputFile, outputId }: TruncateOptions): string | undefined {
  if (outputId !== undefined)
    return `BashOutput with bash_id="${outputId}" and search, from_line or tail_lines shows the rest`;
  return outputFile === undefined ? undefined : `the whole output is in ${outputFile}`;
}

// Chooses the longest notice that leaves half of the limit for the text. If the limit is too small, there is no notice.
function planNotice(total: TextSize, limitChars: number, rest: string | undefined): NoticePlan {
  const opening = `[Output truncated at ${limitChars} characters`;
  const account = (omitted: TextSize): string =>
    `${opening}: ${count(omitted.characters, "character")} and ${count(omitted.lines, "line")} left out here, ` +
    `of ${count(total.characters, "character")} and ${count(total.lines, "line")}`;
  const forms = [
    (omitted: TextSize) => `${account(omitted)}; ${rest}]`,
    (omitted: TextSize) => `${account(omitted)}]`,
    () => `${opening}]`,
  ].slice(rest === undefined ? 1 : 0);
  for (const write of forms) {
    // The counts of the whole text have the most digits. The extra characters are for a plural "s", which a smaller
    // count can need.
    const reservedChars = write(total).length + PLURAL_AND_NEWLINES_CHARS;
    if (reservedChars <= limitChars / 2) return { reservedChars, write };
  }
  return { reservedChars: 0, write: () => "" };
}

// Cuts at the end of a line if that keeps enough of the text.
function cutHead(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  if (maxChars === 0) return "";
  const lineEnd = text.lastIndexOf("\n", maxChars - 1) + 1;
  return text.slice(
    0,
    lineEnd > maxChars * (1 - LINE_CUT_MAX_SHARE) ? lineEnd : boundaryBefore(text, maxChars),
  );
}

function cutTail(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const start = text.length - maxChars;
  const lineStart = text.indexOf("\n", start - 1) + 1;
  const isNear = lineStart > 0 && lineStart < start + maxChars * LINE_CUT_MAX_SHARE;
  return text.slice(isNear ? lineStart : boundaryAfter(text, start));
}

function join(head: string, notice: string, tail: string): string {
  if (notice === "") return head + tail;
  return `${head}${head === "" || head.endsWith("\n") ? "" : "\n"}${notice}\n${tail}`;
}

function addAll(...sizes: readonly TextSize[]): TextSize {
  return sizes.reduce(
    (sum, size) => ({ characters: sum.characters + size.characters, lines: sum.lines + size.lines }),
    NOTHING,
  );
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

const NOTHING: TextSize = { characters: 0, lines: 0 };
const PLURAL_AND_NEWLINES_CHARS = 4;
