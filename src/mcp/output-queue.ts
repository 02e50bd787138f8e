// What goes out to a client, in order. The stream gets one piece at a time, so that every piece the client takes is
// seen: of a large write, or of several that Node joins, only the end would be. That is how a client that reads slowly
// differs from one that does not read.
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

  /** Resolves when the stream has taken all of it. */
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

  /** True when everything has gone out; false when nothing has for `stallMs`, counted from `sinceMs` at the earliest. */
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
      for (const tell of this.#onEmpty.splice(0)) tell();
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
