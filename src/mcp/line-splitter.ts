// Cuts a stream of bytes into lines without copying what is still incomplete again and again. A line over
// the limit is not kept: it comes out as undefined, once, and the next line is whole again.

const NEWLINE = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #tooLong = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(chunk: Buffer): Generator<string | undefined, void, void> {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      this.#keep(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      yield this.#take();
    }
    this.#keep(rest);
  }

  /** What stands behind the last newline. */
  *end(): Generator<string | undefined, void, void> {
    if (this.#bytes > 0) yield this.#take();
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) {
      this.#tooLong = true;
      this.#parts = [];
    } else if (part.length > 0) this.#parts.push(part);
  }

  #take(): string | undefined {
    const line = this.#tooLong ? undefined : Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#bytes = 0;
    this.#tooLong = false;
    return line;
  }
}
