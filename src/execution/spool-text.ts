// A part of a spool file as the text a model should read. Of a large part only the ends are read and the
// rest is counted, so that no output is too large to be shown.

import { readRange } from "../engine/cursor.ts";
import {
  END_READ_BYTES,
  FILTER_LINE_MAX_CHARS,
  REDACT_HOLD_MAX_CHARS,
  SCAN_PIECE_BYTES,
  WHOLE_READ_MAX_BYTES,
} from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import { describeBinary, isBinary } from "../text/binary.ts";
import { boundaryAfter } from "../text/boundary.ts";
import {
  createUtf8Decoder,
  decodeUtf8,
  incompleteTailBytes,
  measureText,
  measureUtf8,
  orphanedHeadBytes,
  type TextSize,
} from "../text/decode.ts";
import { filterLines, type LinePattern } from "../text/filter.ts";
import type { TextEnds } from "../text/truncate.ts";

export interface SpoolPart {
  readonly path: string;
  /** Bytes [from, to). */
  readonly from: number;
  readonly to: number;
  /** A file that holds this part alone, for a reader that is sent there. @default path */
  readonly file?: () => string;
  /** What is done to its text before it is polished. */
  readonly first?: (text: string) => string;
}

/** What makes text fit for a reader: see text/ and environment/redact.ts. */
export type TextSanitizer = (text: string) => string;

/** `limitChars`: what will be shown of it at most. */
export async function textOf(part: SpoolPart, sanitizing: TextSanitizer, limitChars = 0): Promise<TextEnds> {
  const { path, from, to, first } = part;
  const sanitize: TextSanitizer = first ? (text) => sanitizing(first(text)) : sanitizing;
  const whole = to - from <= wholeMaxBytes(limitChars);
  const endBytes = Math.max(END_READ_BYTES, wholeMaxBytes(limitChars) / 2);
  const start = readRange(path, from, whole ? to : from + endBytes);
  if (isBinary(start)) {
    const words = describeBinary({ sample: start, totalBytes: to - from, outputFile: fileOf(part) });
    return { head: `${words}\n`, middle: NOTHING, tail: "" };
  }
  if (whole) return { head: sanitize(decodeUtf8(start)), middle: NOTHING, tail: "" };

  const headBytes = start.length - incompleteTailBytes(start);
  const end = readRange(path, to - endBytes, to);
  const orphans = orphanedHeadBytes(end);
  const head = sanitize(decodeUtf8(start.subarray(0, headBytes)));
  const tail = sanitize(decodeUtf8(end.subarray(orphans)));
  const middle = await measure({ path, from: from + headBytes, to: to - endBytes + orphans });
  return { head, middle, tail };
}

/** Where the whole of it is, and nothing else. */
export function fileOf({ path, file }: SpoolPart): string {
  return file?.() ?? path;
}

/** The lines that match, and how many did not. Others get to run between pieces. */
export async function filteredTextOf(
  part: SpoolPart,
  sanitize: TextSanitizer,
  pattern: LinePattern,
  limitChars = 0,
): Promise<{ readonly ends: TextEnds; readonly skipped: number }> {
  const decoder = createUtf8Decoder();
  let rest = "";
  let skipped = 0;
  const kept = new BoundedText(wholeMaxBytes(limitChars));
  for (let at = part.from; at < part.to; at += SCAN_PIECE_BYTES) {
    const last = at + SCAN_PIECE_BYTES >= part.to;
    const bytes = readRange(part.path, at, Math.min(part.to, at + SCAN_PIECE_BYTES));
    const text = rest + decoder.push(bytes) + (last ? decoder.end() : "");
    // A line without end must not be held in memory whole, nor looked through again for every piece.
    const complete = last || (text.length > FILTER_LINE_MAX_CHARS && !text.includes("\n"));
    const end = complete ? text.length : beforeOpenKey(text, text.lastIndexOf("\n") + 1);
    rest = text.slice(end);
    const filtered = filterLines(sanitize(text.slice(0, end)), pattern);
    kept.add(filtered.text);
    skipped += filtered.skipped;
    if (!last) await yieldTurn();
  }
  return { ends: kept.ends(), skipped };
}

/** A private key has many lines, and is recognized only as a whole: one that begins and does not end waits for the rest. */
function beforeOpenKey(text: string, end: number): number {
  const begin = text.lastIndexOf("-----BEGIN ", end);
  const isOpen = begin > text.lastIndexOf("-----END ", end) && end - begin < REDACT_HOLD_MAX_CHARS;
  return isOpen ? text.lastIndexOf("\n", begin) + 1 : end;
}

// No character (as String.length counts) has more than three bytes: what is larger cannot fit into the limit.
function wholeMaxBytes(limitChars: number): number {
  return Math.max(WHOLE_READ_MAX_BYTES, 4 * limitChars);
}

const NOTHING: TextSize = { characters: 0, lines: 0 };

/** Keeps both ends of what is added and counts what falls out between them. */
class BoundedText {
  readonly #keepChars: number;
  #head = "";
  #tail = "";
  #characters = 0;
  #lines = 0;

  constructor(keepChars: number) {
    this.#keepChars = keepChars;
  }

  add(text: string): void {
    // In whole pieces, so that no character is halved.
    if (this.#head.length < this.#keepChars) this.#head += text;
    else this.#tail += text;
    if (this.#tail.length <= 2 * this.#keepChars) return;
    const cut = boundaryAfter(this.#tail, this.#tail.length - this.#keepChars);
    const dropped = measureText(this.#tail.slice(0, cut));
    this.#tail = this.#tail.slice(cut);
    this.#characters += dropped.characters;
    this.#lines += dropped.lines;
  }

  ends(): TextEnds {
    return {
      head: this.#head,
      middle: { characters: this.#characters, lines: this.#lines },
      tail: this.#tail,
    };
  }
}

async function measure({ path, from, to }: SpoolPart): Promise<TextSize> {
  let characters = 0;
  let lines = 0;
  for (let at = from; at < to; ) {
    const bytes = readRange(path, at, Math.min(to, at + SCAN_PIECE_BYTES));
    if (bytes.length === 0) break;
    const held = at + bytes.length < to ? incompleteTailBytes(bytes) : 0;
    const size = measureUtf8(bytes.subarray(0, bytes.length - held));
    characters += size.characters;
    lines += size.lines;
    at += bytes.length - held;
    await yieldTurn();
  }
  return { characters, lines };
}
