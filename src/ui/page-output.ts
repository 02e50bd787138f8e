// The output of one shell for the page: the end of the output so far, then new output. Removes colors and redrawn
// lines, and redacts secrets. Other control characters stay: the page shows them as visible symbols.
import { readRange } from "../engine/cursor.ts";
import { beforeOpenKey } from "../execution/spool-text.ts";
import type { StreamName } from "../shell/follow-output.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import {
  UI_BACKLOG_BYTES,
  UI_HELD_MAX_CHARS,
  UI_OUTPUT_INTERVAL_MS,
  UI_OUTPUT_MAX_CHARS,
} from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { createUtf8Decoder } from "../text/decode.ts";
import type { Sanitize } from "./shell-rows.ts";

export interface OutputChunk {
  readonly stream: StreamName;
  /** Whole lines, except at the end of the output or after a pause. */
  readonly text: string;
  /** The number of bytes that were left out before this text. */
  readonly skipped_bytes?: number;
}

const STREAMS = ["stdout", "stderr"] as const;

/** `redactText` hides secrets in text of whole lines. */
export async function* pageOutput(
  shell: ShellProcess,
  redactText: Sanitize,
  signal: AbortSignal,
): AsyncGenerator<readonly OutputChunk[], void, void> {
  const readers = STREAMS.map((stream) => new StreamReader(shell, stream));
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    // Read the state first: all output is on disk when the end is known.
    const isLast = !shell.isRunning;
    const chunks = readers.flatMap((reader) => reader.take(redactText, isLast));
    if (chunks.length > 0 || isFirst) yield chunks;
    if (isLast && chunks.length === 0) return;
    await sleep(UI_OUTPUT_INTERVAL_MS);
  }
}

class StreamReader {
  readonly #shell: ShellProcess;
  readonly #stream: StreamName;
  readonly #decoder = createUtf8Decoder();
  #position: number | undefined;
  #held = "";
  #quietTurns = 0;

  constructor(shell: ShellProcess, stream: StreamName) {
    this.#shell = shell;
    this.#stream = stream;
  }

  take(redactText: Sanitize, isLast: boolean): OutputChunk[] {
    const { path, from, to } = this.#shell.outputParts[this.#stream];
    const before = this.#position ?? from;
    // A program can print faster than a page can show it: skip the output that exceeds the backlog.
    const start = Math.max(before, to - UI_BACKLOG_BYTES, from);
    const end = Math.min(to, start + UI_OUTPUT_MAX_CHARS * 2);
    const bytes = readRange(path, start, end);
    this.#position = start + bytes.length;
    const skipped = start - before;
    if (skipped > 0) this.#held = "";
    const fresh = this.#decoder.push(bytes);
    // Drop the first line after a gap, because it is incomplete.
    this.#held += skipped > 0 ? fresh.slice(fresh.indexOf("\n") + 1) : fresh;
    this.#quietTurns = bytes.length === 0 ? this.#quietTurns + 1 : 0;
    // Send the start of a very long line early, because such a line must not fill the memory.
    const isPause = isLast || this.#quietTurns > 2 || this.#held.length > UI_OUTPUT_MAX_CHARS;
    const lineEnd = isPause ? this.#held.length : this.#held.lastIndexOf("\n") + 1;
    const isTooLong = this.#held.length > UI_HELD_MAX_CHARS;
    const cut = isLast || isTooLong ? lineEnd : beforeOpenKey(this.#held, lineEnd);
    const text = redactText(readable(this.#held.slice(0, cut)));
    this.#held = this.#held.slice(cut);
    if (text === "" && skipped <= 0) return [];
    return [{ stream: this.#stream, text, ...(skipped > 0 ? { skipped_bytes: skipped } : {}) }];
  }
}

/** Matches only colors and cursor movement. Other sequences can carry data, so the page shows them. */
const STYLES = /\x1b\[[0-9;:?]*[A-Za-z]/g;

function readable(text: string): string {
  return text.replace(STYLES, "").replaceAll("\r\n", "\n").split("\n").map(withoutOverwritten).join("\n");
}

/**
 * The part of a line after its last carriage return, with which progress bars overwrite the line. Searches from the
 * end: a pattern that starts at every character takes seconds for one long line.
 */
function withoutOverwritten(line: string): string {
  const end = line.endsWith("\r") ? line.length - 2 : line.length - 1;
  return end < 0 ? line : line.slice(line.lastIndexOf("\r", end) + 1);
}
