// A part of a spool file as the text a model should read. Of a large part only the ends are read and the
// rest is counted, so that no output is too large to be shown.
import { readRange } from "../spool/cursor.ts";
import { END_READ_BYTES, SCAN_PIECE_BYTES, WHOLE_READ_MAX_BYTES } from "../support/limits.ts";
import { describeBinary } from "../text/binary.ts";
import {
  createUtf8Decoder,
  decodeUtf8,
  incompleteTailBytes,
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
}

/** What makes text fit for a reader: see text/ and environment/redact.ts. */
export type Polish = (text: string) => string;

export async function textOf(part: SpoolPart, polish: Polish): Promise<TextEnds> {
  const { path, from, to } = part;
  const whole = to - from <= WHOLE_READ_MAX_BYTES;
  const start = readRange(path, from, whole ? to : from + END_READ_BYTES);
  const binary = describeBinary({ sample: start, totalBytes: to - from, outputFile: path });
  if (binary !== undefined) return { head: `${binary}\n`, middle: NOTHING, tail: "" };
  if (whole) return { head: polish(decodeUtf8(start)), middle: NOTHING, tail: "" };

  const headBytes = start.length - incompleteTailBytes(start);
  const end = readRange(path, to - END_READ_BYTES, to);
  const orphans = orphanedHeadBytes(end);
  const head = polish(decodeUtf8(start.subarray(0, headBytes)));
  const tail = polish(decodeUtf8(end.subarray(orphans)));
  const middle = await measure({ path, from: from + headBytes, to: to - END_READ_BYTES + orphans });
  return { head, middle, tail };
}

/** The lines that match, and how many did not. Others get to run between pieces. */
export async function filteredTextOf(
  part: SpoolPart,
  polish: Polish,
  pattern: LinePattern,
): Promise<{ readonly ends: TextEnds; readonly skipped: number }> {
  const decoder = createUtf8Decoder();
  let rest = "";
  let skipped = 0;
  const kept = new BoundedText();
  for (let at = part.from; at < part.to; at += SCAN_PIECE_BYTES) {
    const last = at + SCAN_PIECE_BYTES >= part.to;
    const bytes = readRange(part.path, at, Math.min(part.to, at + SCAN_PIECE_BYTES));
    const text = rest + decoder.push(bytes) + (last ? decoder.end() : "");
    const end = last ? text.length : text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    const filtered = filterLines(polish(text.slice(0, end)), pattern);
    kept.add(filtered.text);
    skipped += filtered.skipped;
    if (!last) await new Promise((resolve) => setImmediate(resolve));
  }
  return { ends: kept.ends(), skipped };
}

const NOTHING: TextSize = { characters: 0, lines: 0 };

/** Keeps both ends of what is added and counts what falls out between them. */
class BoundedText {
  #head = "";
  #tail = "";
  #characters = 0;
  #lines = 0;

  add(text: string): void {
    const room = Math.max(0, WHOLE_READ_MAX_BYTES - this.#head.length);
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    const over = this.#tail.length - 2 * WHOLE_READ_MAX_BYTES;
    if (over <= 0) return;
    // At a line's end, so that no character is halved.
    const cut = this.#tail.indexOf("\n", over + WHOLE_READ_MAX_BYTES) + 1;
    const dropped = this.#tail.slice(0, cut);
    this.#tail = this.#tail.slice(cut);
    this.#characters += dropped.length;
    this.#lines += dropped.split("\n").length - 1;
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
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { characters, lines };
}
