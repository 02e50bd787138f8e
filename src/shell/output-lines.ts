// Finds a line in growing output. Reads each byte once. Also tests a last line without a newline, such as a prompt.
// Keeps only a bounded part of one line in memory.
import { Cursor } from "../engine/cursor.ts";
import { MATCH_LINE_MAX_CHARS, READ_CHUNK_BYTES, READ_TURN_CHUNKS_COUNT } from "../support/limits.ts";
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

  /**
   * The first matching line of the new output. Without a match, "more" if there is more to read, and "dry" if there is
   * not.
   */
  advance(): { readonly line: string } | "more" | "dry" {
    for (let chunks = 0; chunks < READ_TURN_CHUNKS_COUNT; chunks++) {
      this.#cursor.settle();
      const bytes = this.#cursor.peek(READ_CHUNK_BYTES);
      if (bytes.length === 0) return "dry";
      this.#cursor.advance(bytes.length);
      const line = this.#match(this.#rest + this.#decoder.push(bytes));
      if (line !== undefined) return { line };
    }
    return "more";
  }

  #match(text: string): string | undefined {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      const found = text
        .slice(0, end - 1)
        .split("\n")
        .find((line) => this.#matcher.matches(line));
      if (found !== undefined) return found;
    }
    const last = text.slice(end);
    this.#rest = last.slice(-MATCH_LINE_MAX_CHARS);
    // If the rest is empty, the output ends with a newline, and there is no last line.
    return last !== "" && this.#matcher.matches(last) ? last : undefined;
  }
}
