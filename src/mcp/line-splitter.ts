// Cuts a stream of bytes into lines without copying what is still incomplete again and again. A line over
// the limit is not kept: what a scan of its bytes has found comes out in its place, once, and the next line is whole.
import { MessageScan, type Scanned } from "./message-scan.ts";

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Of a line over the limit. */
  #scan: MessageScan | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(chunk: Buffer): Generator<string | Scanned, void, void> {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      this.#keep(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      yield this.#take();
    }
    this.#keep(rest);
  }

  /** What stands behind the last newline. */
  *end(): Generator<string | Scanned, void, void> {
    if (this.#bytes > 0) yield this.#take();
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) {
      this.#scan ??= new MessageScan();
      for (const one of [...this.#parts.splice(0), part]) this.#scan.push(one);
    } else if (part.length > 0) this.#parts.push(part);
  }

  #take(): string | Scanned {
    const line = this.#scan?.result() ?? Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#bytes = 0;
    this.#scan = undefined;
    return line;
  }
}
