// A part of an output file, as text for a model. If the part is large, reads only its start and end, and counts the
// rest: memory must not grow with the output.

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
  /** Returns a file that contains only this part, to show to a reader. @default path */
  readonly file?: () => string;
  /** Changes the text before it is sanitized. */
  readonly first?: (text: string) => string;
}

/** Makes text safe and readable for a model: see sanitizerFor in render.ts. */
export type TextSanitizer = (text: string) => string;

/** `limitChars`: the number of characters that will be shown. */
export async function textOf(part: SpoolPart, sanitizing: TextSanitizer, limitChars = 0): Promise<TextEnds> {
  const { path, from, to, first } = part;
  if (to <= from) return NO_TEXT;
  const sanitize: TextSanitizer = first ? (text) => sanitizing(first(text)) : sanitizing;
  const whole = to - from <= wholeMaxBytes(limitChars);
  const endBytes = Math.max(END_READ_BYTES, wholeMaxBytes(limitChars) / 2);
  const start = readRange(path, from, whole ? to : from + endBytes);
  if (isBinary(start)) {
    const line = describeBinary({ sample: start, totalBytes: to - from, outputFile: fileOf(part) });
    return { head: `${line}\n`, middle: NOTHING, tail: "" };
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

/** The path that a reader of this part should see. */
export function fileOf({ path, file }: SpoolPart): string {
  return file?.() ?? path;
}

/** The matching lines, and the number of the other lines. Yields to the event loop between chunks. */
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
    // Split a very long line: otherwise nacre would keep the whole line in memory and search it again for every
    // chunk.
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

/**
 * A private key has many lines and is recognized only as a whole, so hold back a key whose end has not been read yet.
 */
export function beforeOpenKey(text: string, end: number): number {
  const begin = text.lastIndexOf("-----BEGIN ", end);
  const isOpen = begin > text.lastIndexOf("-----END ", end) && end - begin < REDACT_HOLD_MAX_CHARS;
  return isOpen ? text.lastIndexOf("\n", begin) + 1 : end;
}

// A UTF-16 unit takes at most three bytes of UTF-8, so larger output cannot fit into the limit.
function wholeMaxBytes(limitChars: number): number {
  return Math.max(WHOLE_READ_MAX_BYTES, 4 * limitChars);
}

const NOTHING: TextSize = { characters: 0, lines: 0 };
const NO_TEXT: TextEnds = { head: "", middle: NOTHING, tail: "" };

/** Keeps the start and the end of the added text and counts the rest. */
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
    // Add whole chunks only, so that no character is split.
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
