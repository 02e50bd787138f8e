// Splits the bytes of one connection into lines. When a connection ends, its partial line is discarded: the resumed
// channel sends the whole message again.
import { NacreError } from "../../support/errors.ts";
import { REMOTE_FRAME_MAX_BYTES, REMOTE_FRAME_PARTS_MAX_COUNT } from "../../support/limits.ts";

const NEWLINE = 0x0a;

export class FrameLines {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      this.#parts.push(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      const line = Buffer.concat(this.#parts).toString("utf8");
      this.#parts = [];
      this.#bytes = 0;
      this.#onLine(line);
    }
    if (rest.length === 0) return;
    this.#bytes += rest.length;
    if (this.#bytes > REMOTE_FRAME_MAX_BYTES) {
      throw new NacreError(
        "limit_reached",
        `A line on the link is longer than ${REMOTE_FRAME_MAX_BYTES} bytes.`,
      );
    }
    this.#parts.push(rest);
    // Merge the parts: otherwise this process would store one Buffer per byte for a peer that sends one byte at a time.
    if (this.#parts.length >= REMOTE_FRAME_PARTS_MAX_COUNT) this.#parts = [Buffer.concat(this.#parts)];
  }
}
