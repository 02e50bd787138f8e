// Finds a line in growing output. Looks at each byte once, also at a last line without its newline
// (a prompt waits there), and never holds more than a bounded part of one line.
import { Cursor } from "../spool/cursor.ts";
import { MATCH_LINE_MAX_CHARS, READ_CHUNK_BYTES } from "../support/limits.ts";
import { createUtf8Decoder } from "../text/decode.ts";

export interface LineMatcher {
  matches(line: string): boolean;
}

export class LineSearch {
  readonly #cursor: Cursor;
  readonly #matcher: LineMatcher;
  readonly #decoder = createUtf8Decoder();
  #rest = "";

  constructor(path: string, from: number, matcher: LineMatcher) {
    this.#cursor = new Cursor(path, from);
    this.#matcher = matcher;
  }

  /** The first matching line among what is new, read to the end of what is there now. */
  advance(): string | undefined {
    for (;;) {
      const bytes = this.#cursor.peek(READ_CHUNK_BYTES);
      if (bytes.length === 0) return undefined;
      this.#cursor.advance(bytes.length);
      const lines = (this.#rest + this.#decoder.push(bytes)).split("\n");
      this.#rest = (lines.pop() ?? "").slice(-MATCH_LINE_MAX_CHARS);
      // A rest that is empty is no line: nothing was printed behind the last newline.
      const last = this.#rest === "" ? [] : [this.#rest];
      const found = [...lines, ...last].find((line) => this.#matcher.matches(line));
      if (found !== undefined) return found;
    }
  }
}
