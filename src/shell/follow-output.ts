// Live output of one shell: everything printed so far, then new output until the shell ends.

import { Cursor } from "../engine/cursor.ts";
import type { ShellFiles } from "../engine/state-dir.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import { READ_CHUNK_BYTES, READ_TURN_CHUNKS_COUNT } from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import { createUtf8Decoder } from "../text/decode.ts";
import { OutputWatch } from "./output-watch.ts";

export type StreamName = "stdout" | "stderr";

export interface OutputPiece {
  readonly stream: StreamName;
  readonly text: string;
}

/** Raw bytes, valid until the reader asks for the next piece. */
export interface OutputBytes {
  readonly stream: StreamName;
  readonly bytes: Buffer;
}

export interface Followed {
  readonly hasEnded: () => boolean;
  readonly ended: Promise<unknown>;
  /** Start positions in bytes. @default 0 */
  readonly from?: Readonly<Record<StreamName, number>>;
  /** Where a stream ends in its file, once that is known. Other commands may append to the file later. */
  readonly to?: (stream: StreamName) => number | undefined;
  /** Stops following when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Decodes the bytes to text, in whole characters. */
export async function* decodePieces(
  pieces: AsyncGenerator<OutputBytes, void, void>,
): AsyncGenerator<OutputPiece, void, void> {
  const decoders = { stdout: createUtf8Decoder(), stderr: createUtf8Decoder() };
  for await (const { stream, bytes } of pieces) {
    const text = decoders[stream].push(bytes);
    if (text !== "") yield { stream, text };
  }
  for (const stream of STREAMS) {
    const text = decoders[stream].end();
    if (text !== "") yield { stream, text };
  }
}

export async function* followBytes(
  files: Pick<ShellFiles, "dir" | StreamName>,
  { hasEnded, ended, from, to, signal }: Followed,
): AsyncGenerator<OutputBytes, void, void> {
  const cursors = STREAMS.map((stream) => ({ stream, cursor: new Cursor(files[stream], from?.[stream]) }));
  // Do not share the buffer: other readers would overwrite it while the consumer uses a piece.
  const buffer = Buffer.allocUnsafeSlow(READ_CHUNK_BYTES);
  const watch = new OutputWatch(files.dir);
  const nudge = () => watch.nudge();
  void ended.then(nudge);
  signal?.addEventListener("abort", nudge, { once: true });
  let turns = 0;
  try {
    while (!signal?.aborted) {
      // Check whether the command has ended before reading: once the end is known, all output is on disk.
      const last = hasEnded();
      let quiet = true;
      for (const { stream, cursor } of cursors) {
        cursor.settle();
        const left = (to?.(stream) ?? Number.POSITIVE_INFINITY) - cursor.position;
        const bytes = cursor.peek(Math.max(0, Math.min(READ_CHUNK_BYTES, left)), buffer);
        cursor.advance(bytes.length);
        if (bytes.length === 0) continue;
        quiet = false;
        yield { stream, bytes };
      }
      if (!quiet) {
        // Yield, so that a backlog of gigabytes does not block this thread.
        if (++turns % READ_TURN_CHUNKS_COUNT === 0) await yieldTurn();
        continue;
      }
      if (last) return;
      await watch.next();
    }
  } finally {
    signal?.removeEventListener("abort", nudge);
    watch.close();
  }
}

/**
 * Keeps the process alive while a reader waits for the next piece. If a reader stops iterating, the process may exit.
 */
export async function* held<T>(pieces: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  const next = async () => {
    using _hold = holdEventLoop();
    return await pieces.next();
  };
  try {
    for (let piece = await next(); !piece.done; piece = await next()) yield piece.value;
  } finally {
    await pieces.return();
  }
}

const STREAMS = ["stdout", "stderr"] as const;
