// Prints the output of a shell byte for byte: its stdout to stdout, its stderr to stderr. So `nacre output ID --all >
// file` copies what the command wrote to stdout. With a pattern, prints only matching lines. With times, prints the time
// before each line, and the lines of both streams in the order of their times.
import { readRange } from "../../engine/cursor.ts";
import type { OutputParts } from "../../execution/render.ts";
import type { StreamName } from "../../shell/follow-output.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { FILTER_LINE_MAX_CHARS, READ_CHUNK_BYTES } from "../../support/limits.ts";
import { yieldTurn } from "../../support/timing.ts";
import { decodeUtf8, incompleteTailBytes } from "../../text/decode.ts";
import { filterLines, type LinePattern } from "../../text/filter.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { write } from "../write.ts";
import type { LineTimes } from "./line-times.ts";

export interface BytesPlan {
  readonly parts: OutputParts;
  readonly pattern: LinePattern | undefined;
  /** Print only stderr, and print it to stdout. */
  readonly stderr: boolean;
  readonly follow: boolean;
  readonly times: LineTimes | undefined;
}

export async function printBytes(io: CliIo, shell: ShellProcess, plan: BytesPlan): Promise<number> {
  const { parts, stderr, follow, pattern, times } = plan;
  const sinkOf = (stream: StreamName) => {
    const stamp = times && ((offset: number) => times.stampOf(stream, offset));
    return new Sink(pattern, parts[stream].from, stamp);
  };
  const sinks = { stdout: sinkOf("stdout"), stderr: sinkOf("stderr") };
  const wanted: readonly StreamName[] = stderr ? ["stderr"] : ["stdout", "stderr"];
  const target = (stream: StreamName) => (stderr ? io.stdout : io[stream]);
  const from = { stdout: parts.stdout.from, stderr: parts.stderr.from };
  const ranges = () =>
    times?.piecesOf(parts, wanted) ?? wanted.map((stream) => ({ stream, ...parts[stream] }));
  const pieces = follow ? shell.outputBytes({ from, signal: io.stopped }) : piecesOf(parts, ranges());
  for await (const { stream, bytes } of pieces) {
    if (!wanted.includes(stream)) continue;
    const shown = sinks[stream].take(bytes);
    if (shown.length > 0 && !(await write(target(stream), shown))) return EXIT.brokenPipe;
  }
  for (const stream of wanted) await write(target(stream), sinks[stream].end());
  return EXIT.ok;
}

interface Range {
  readonly stream: StreamName;
  readonly from: number;
  readonly to: number;
}

async function* piecesOf(parts: OutputParts, ranges: readonly Range[]) {
  for (const { stream, from, to } of ranges) {
    const { path } = parts[stream];
    for (let at = from; at < to; at += READ_CHUNK_BYTES) {
      yield { stream, bytes: readRange(path, at, Math.min(to, at + READ_CHUNK_BYTES)) };
      // Let the event loop run, for example to handle a signal.
      await yieldTurn();
    }
  }
}

/** The text before the line that begins at this offset. */
type Stamp = (offset: number) => string;

/**
 * Passes bytes on unchanged. With a pattern, passes on only matching lines. With a stamp, writes the stamp before each
 * line.
 */
class Sink {
  readonly #pattern: LinePattern | undefined;
  readonly #stamp: Stamp | undefined;
  /** The offset of the first byte in #pieces or, if that is empty, of the next byte. */
  #offset: number;
  #isAtLineStart = true;
  /** The pieces of an unfinished line. They are joined only once, when the line is complete. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(pattern: LinePattern | undefined, offset: number, stamp: Stamp | undefined) {
    this.#pattern = pattern;
    this.#offset = offset;
    this.#stamp = stamp;
  }

  take(bytes: Buffer): Buffer {
    // Copy the bytes: the next read reuses their buffer, and the stream may not have written the bytes by then.
    const piece = Buffer.from(bytes);
    if (!this.#pattern) return this.#stamp ? this.#lines(piece) : piece;
    this.#keep(piece);
    if (!piece.includes(NEWLINE) && this.#length <= FILTER_LINE_MAX_CHARS) return NOTHING;
    const all = Buffer.concat(this.#pieces);
    const lines = all.lastIndexOf(NEWLINE) + 1;
    // Filter a line that is too long in parts, split between characters.
    const end = lines > 0 ? lines : all.length - incompleteTailBytes(all);
    this.#pieces = [];
    this.#length = 0;
    this.#keep(all.subarray(end));
    return this.#lines(all.subarray(0, end));
  }

  end(): Buffer {
    return this.#pattern ? this.#lines(Buffer.concat(this.#pieces)) : NOTHING;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** The matching lines, each with its stamp before it. */
  #lines(bytes: Buffer): Buffer {
    const kept: Buffer[] = [];
    for (let start = 0; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const next = newline === -1 ? bytes.length : newline + 1;
      const line = bytes.subarray(start, next);
      if (!this.#pattern || filterLines(decodeUtf8(line), this.#pattern).kept > 0) {
        if (this.#stamp && this.#isAtLineStart) kept.push(Buffer.from(this.#stamp(this.#offset)));
        kept.push(line);
      }
      this.#isAtLineStart = newline !== -1;
      this.#offset += line.length;
      start = next;
    }
    return Buffer.concat(kept);
  }
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
