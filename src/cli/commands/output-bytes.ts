// Prints the output of a shell byte for byte: its stdout to stdout, its stderr to stderr. So `nacre output ID --all >
// file` copies what the command wrote to stdout. With a pattern, prints only matching lines.
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

export interface BytesPlan {
  readonly parts: OutputParts;
  readonly pattern: LinePattern | undefined;
  /** Print only stderr, to stdout. */
  readonly stderr: boolean;
  readonly follow: boolean;
}

export async function printBytes(io: CliIo, shell: ShellProcess, plan: BytesPlan): Promise<number> {
  const { parts, stderr, follow } = plan;
  const sinks = { stdout: new Sink(plan.pattern), stderr: new Sink(plan.pattern) };
  const wanted: readonly StreamName[] = stderr ? ["stderr"] : ["stdout", "stderr"];
  const target = (stream: StreamName) => (stderr ? io.stdout : io[stream]);
  const from = { stdout: parts.stdout.from, stderr: parts.stderr.from };
  const pieces = follow ? shell.outputBytes({ from }) : piecesOf(parts, wanted);
  for await (const { stream, bytes } of pieces) {
    if (!wanted.includes(stream)) continue;
    const shown = sinks[stream].take(bytes);
    if (shown.length > 0 && !(await write(target(stream), shown))) return EXIT.brokenPipe;
  }
  for (const stream of wanted) await write(target(stream), sinks[stream].end());
  return EXIT.ok;
}

async function* piecesOf(parts: OutputParts, streams: readonly StreamName[]) {
  for (const stream of streams) {
    const { path, from, to } = parts[stream];
    for (let at = from; at < to; at += READ_CHUNK_BYTES) {
      yield { stream, bytes: readRange(path, at, Math.min(to, at + READ_CHUNK_BYTES)) };
      // Let the event loop run, for example to handle a signal.
      await yieldTurn();
    }
  }
}

/** Passes bytes through, or with a pattern only matching lines. */
class Sink {
  readonly #pattern: LinePattern | undefined;
  /** The beginning of an unfinished line, in pieces, which are concatenated once, at the end of the line. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(pattern: LinePattern | undefined) {
    this.#pattern = pattern;
  }

  take(bytes: Buffer): Buffer {
    // Copy: the next read overwrites these bytes, while the stream may still hold them.
    const piece = Buffer.from(bytes);
    if (!this.#pattern) return piece;
    this.#keep(piece);
    if (!piece.includes(NEWLINE) && this.#length <= FILTER_LINE_MAX_CHARS) return NOTHING;
    const all = Buffer.concat(this.#pieces);
    const lines = all.lastIndexOf(NEWLINE) + 1;
    // A line that is too long is filtered in parts, split between characters.
    const end = lines > 0 ? lines : all.length - incompleteTailBytes(all);
    this.#pieces = [];
    this.#length = 0;
    this.#keep(all.subarray(end));
    return matchingLines(all.subarray(0, end), this.#pattern);
  }

  end(): Buffer {
    return this.#pattern ? matchingLines(Buffer.concat(this.#pieces), this.#pattern) : NOTHING;
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}

function matchingLines(bytes: Buffer, pattern: LinePattern): Buffer {
  const kept: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const next = newline === -1 ? bytes.length : newline + 1;
    const line = bytes.subarray(start, next);
    if (filterLines(decodeUtf8(line), pattern).kept > 0) kept.push(line);
    start = next;
  }
  return Buffer.concat(kept);
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
