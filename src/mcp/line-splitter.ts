// Splits a stream of bytes into lines and copies each byte once. The splitter does not store a line above the limit.
// Instead, it returns the result of a scan of that line, and continues with the next line.
import { MessageScan, type Scanned } from "./message-scan.ts";

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The scan of a line above the limit. */
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

  /** Yields the text after the last newline, if there is any. */
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
