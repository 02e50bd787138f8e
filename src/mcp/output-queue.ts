// The output to a client, in order. Writes one small piece at a time and sees progress after every piece. So the
// queue can distinguish a client that reads slowly from one that does not read. With one large write, or with several
// writes that Node joins, the queue would see progress only at the end.
import type { Writable } from "node:stream";
import { monotonicMs } from "../support/clock.ts";
import { MCP_WRITE_MAX_BYTES } from "../support/limits.ts";

interface Piece {
  readonly bytes: Buffer;
  readonly done: (error: Error | null | undefined) => void;
}

export class OutputQueue {
  readonly #out: Writable;
  readonly #pieces: Piece[] = [];
  readonly #onEmpty: (() => void)[] = [];
  #isWriting = false;
  #progressMs = 0;

  constructor(out: Writable) {
    this.#out = out;
  }

  /** Resolves when the stream accepted the whole text. */
  push(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += MCP_WRITE_MAX_BYTES) {
        const end = at + MCP_WRITE_MAX_BYTES;
        const isLast = end >= bytes.length;
        const done: Piece["done"] = (error) => (error ? reject(error) : isLast && resolve());
        this.#pieces.push({ bytes: bytes.subarray(at, end), done });
      }
      if (!this.#isWriting) this.#next();
    });
  }

  /** True when the queue is empty. False after `stallMs` without progress, counted from `sinceMs` or later. */
  async flush(stallMs: number, sinceMs: number): Promise<boolean> {
    while (this.#isWriting) {
      const leftMs = Math.max(this.#progressMs, sinceMs) + stallMs - monotonicMs();
      if (leftMs <= 0) return false;
      await this.#emptyOr(leftMs);
    }
    return true;
  }

  #next(): void {
    const piece = this.#pieces.shift();
    this.#isWriting = piece !== undefined;
    if (!piece) {
      for (const notify of this.#onEmpty.splice(0)) notify();
      return;
    }
    this.#out.write(piece.bytes, (error) => {
      this.#progressMs = monotonicMs();
      piece.done(error);
      this.#next();
    });
  }

  async #emptyOr(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onEmpty.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
