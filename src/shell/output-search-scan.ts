// Scans one output file for lines: numbers them, tests them, and remembers the positions of the first matches. Runs in
// the worker thread. Reads each byte once, with only one block in memory.
//
//   scanStream -> block of whole lines -> skimBlock   counts lines; finds out whether any line has control characters
//                                      -> withoutColors, if one has
//                                      -> literal bytes, or mayMatch for many lines at once
//                                      -> the lines of a block that can match
//              -> a line longer than a block: in overlapping parts
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { monotonicMs } from "../support/clock.ts";
import { SEARCH_BLOCK_BYTES, SEARCH_CHUNK_CHARS, SEARCH_OVERLAP_BYTES } from "../support/limits.ts";
import type { SearchPattern } from "../text/search-pattern.ts";
import { plainText } from "../text/terminal.ts";
import { countLines, skimBlock, withoutColors } from "./output-search-bytes.ts";

export interface ScanRequest {
  readonly path: string;
  /** Bytes [from, to). */
  readonly from: number;
  readonly to: number;
  /** undefined: every line matches. */
  readonly pattern: SearchPattern | undefined;
  /** The first line to test. */
  readonly fromLine: number;
  /** The byte at which the first tested line begins, if it is known instead of `fromLine`. */
  readonly fromByte: number | undefined;
  /** On the monotonic clock. */
  readonly deadline: number;
  /** Called for each matching line. Returns whether the scan still has to remember lines. */
  readonly onMatch: (found: FoundLine) => boolean;
}

export interface FoundLine {
  readonly line: number;
  /** The bytes of the line, without its newline. */
  readonly start: number;
  readonly end: number;
  /** For a line that was matched in parts: the byte near which it matched. */
  readonly near?: number;
}

export interface ScanResult {
  readonly matches: number;
  /** The number of the last line that the scan reached. */
  readonly lastLine: number;
  /** Lines that were tested. */
  readonly searchedLines: number;
  /** The byte at which the scan stopped. */
  readonly reached: number;
  readonly isComplete: boolean;
}

const NEWLINE = 0x0a;

export function scanStream(request: ScanRequest): ScanResult {
  return new StreamScan(request).run();
}

class StreamScan {
  readonly #request: ScanRequest;
  readonly #buffer = Buffer.allocUnsafeSlow(SEARCH_BLOCK_BYTES);
  /** For lines without their colors. */
  readonly #plain = Buffer.allocUnsafeSlow(SEARCH_BLOCK_BYTES);
  /** The number of the first line that is not scanned yet. */
  #line = 1;
  #matches = 0;
  #searched = 0;
  #wantsMore = true;
  /** The state of a line that is longer than the buffer. */
  #long: { start: number; hasMatched: boolean; near: number } | undefined;

  constructor(request: ScanRequest) {
    this.#request = request;
  }

  run(): ScanResult {
    const { path, from, to, deadline } = this.#request;
    const fd = openSync(path, "r");
    try {
      const end = Math.min(to, fstatSync(fd).size);
      let at = from;
      let kept = 0;
      while (at < end && monotonicMs() < deadline) {
        const want = Math.min(this.#buffer.length - kept, end - at);
        const count = readSync(fd, this.#buffer, kept, want, at);
        if (count === 0) break;
        at += count;
        kept += count;
        // The last block can contain the end of a long line and further lines.
        do {
          const used = this.#take(this.#buffer.subarray(0, kept), at - kept, at >= end);
          kept -= used;
          this.#buffer.copyWithin(0, used, used + kept);
        } while (at >= end && kept > 0);
      }
      return {
        matches: this.#matches,
        lastLine: this.#line - 1,
        searchedLines: this.#searched,
        reached: at - kept,
        isComplete: at >= end,
      };
    } finally {
      closeSync(fd);
    }
  }

  /** Scans the whole lines in `bytes`, and returns the number of scanned bytes. `base`: their position in the file. */
  #take(bytes: Buffer, base: number, isLast: boolean): number {
    const open = this.#long;
    if (open) {
      const newline = bytes.indexOf(NEWLINE, SEARCH_OVERLAP_BYTES);
      const end = newline < 0 ? bytes.length : newline;
      this.#testPart(bytes.subarray(0, end), base, newline >= 0 || isLast);
      if (newline < 0 && !isLast) return bytes.length - SEARCH_OVERLAP_BYTES;
      this.#endLong(base + end);
      return newline < 0 ? bytes.length : newline + 1;
    }
    const newline = bytes.lastIndexOf(NEWLINE);
    const end = isLast ? bytes.length : newline + 1;
    if (end > 0) {
      this.#scanBlock(bytes.subarray(0, end), base);
      return end;
    }
    if (bytes.length < this.#buffer.length) return 0;
    this.#long = { start: base, hasMatched: false, near: base };
    this.#testPart(bytes, base, false);
    return bytes.length - SEARCH_OVERLAP_BYTES;
  }

  #isTested(line: number, start: number): boolean {
    const { fromLine, fromByte } = this.#request;
    return fromByte === undefined ? line >= fromLine : start >= fromByte;
  }

  #scanBlock(bytes: Buffer, base: number): void {
    const { fromLine, fromByte } = this.#request;
    const { lines, hasControls } = skimBlock(bytes);
    const after = this.#line + lines;
    const isBefore = fromByte === undefined ? after <= fromLine : base + bytes.length <= fromByte;
    if (isBefore) {
      this.#line = after;
      return;
    }
    if (!this.#isTested(this.#line, base)) this.#scanLines(bytes, base, this.#plainOf(bytes, hasControls));
    else if (this.#canSkip(bytes, hasControls)) {
      this.#searched += lines;
      this.#line = after;
    } else this.#scanChunks(bytes, base, hasControls);
  }

  /** The lines as plainText would return them; undefined if each needs plainText itself. Valid until the next call. */
  #plainOf(bytes: Buffer, hasControls: boolean): Buffer | undefined {
    return hasControls ? withoutColors(bytes, this.#plain) : bytes;
  }

  /** Whether the scan can skip testing the lines of the block one by one. */
  #canSkip(bytes: Buffer, hasControls: boolean): boolean {
    const { pattern } = this.#request;
    if (!pattern) return !this.#wantsMore;
    if (pattern.literal === undefined) return false;
    const plain = this.#plainOf(bytes, hasControls);
    return plain !== undefined && !plain.includes(pattern.literal);
  }

  #scanChunks(bytes: Buffer, base: number, hasControls: boolean): void {
    const { pattern } = this.#request;
    for (let at = 0; at < bytes.length; ) {
      const wanted = at + SEARCH_CHUNK_CHARS;
      const newline = wanted >= bytes.length ? -1 : bytes.indexOf(NEWLINE, wanted);
      const end = newline < 0 ? bytes.length : newline + 1;
      const chunk = bytes.subarray(at, end);
      const plain = this.#plainOf(chunk, hasControls);
      if (pattern && plain && !pattern.mayMatch(plain.toString("utf8"))) {
        const lines = countLines(chunk);
        this.#searched += lines;
        this.#line += lines;
      } else this.#scanLines(chunk, base + at, plain);
      at = end;
    }
  }

  /** `plain` has the same lines as `bytes`. */
  #scanLines(bytes: Buffer, base: number, plain: Buffer | undefined): void {
    const { pattern } = this.#request;
    for (let at = 0, plainAt = 0; at < bytes.length; ) {
      const end = lineEndIn(bytes, at);
      const plainEnd = plain && plain !== bytes ? lineEndIn(plain, plainAt) : end;
      if (this.#isTested(this.#line, base + at)) {
        this.#searched++;
        const text = () =>
          plain ? plain.toString("utf8", plainAt, plainEnd) : plainText(lineText(bytes, at, end));
        if (!pattern || pattern.matches(text()))
          this.#found({ line: this.#line, start: base + at, end: base + end });
      }
      this.#line++;
      at = end + 1;
      plainAt = plainEnd + 1;
    }
  }

  /** Tests a part of a line that is too long for one string. Each part overlaps with the previous one. */
  #testPart(bytes: Buffer, base: number, isEnd: boolean): void {
    const { pattern } = this.#request;
    const long = this.#long;
    if (!long || long.hasMatched || !this.#isTested(this.#line, long.start)) return;
    const text = pattern ? bytes.toString("utf8") : "";
    const near = pattern ? nearMatch(pattern, text, base === long.start, isEnd) : 0;
    if (near === undefined) return;
    long.hasMatched = true;
    long.near = base + Buffer.byteLength(text.slice(0, near));
  }

  #endLong(end: number): void {
    const long = this.#long;
    this.#long = undefined;
    if (!long) return;
    if (this.#isTested(this.#line, long.start)) this.#searched++;
    if (long.hasMatched) this.#found({ line: this.#line, start: long.start, end, near: long.near });
    this.#line++;
  }

  #found(line: FoundLine): void {
    this.#matches++;
    if (this.#wantsMore) this.#wantsMore = this.#request.onMatch(line);
  }
}

function lineEndIn(bytes: Buffer, from: number): number {
  const newline = bytes.indexOf(NEWLINE, from);
  return newline < 0 ? bytes.length : newline;
}

/** Without the CR of CRLF. */
function lineText(bytes: Buffer, start: number, end: number): string {
  const stop = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
  return bytes.toString("utf8", start, stop);
}

const CARRIAGE_RETURN = 0x0d;

/**
 * The position of a match in a part of a line. If the part begins or ends inside the line, a match at that end of the
 * part does not count if the pattern can depend on where a line begins or ends.
 */
function nearMatch(
  pattern: SearchPattern,
  text: string,
  isStart: boolean,
  isEnd: boolean,
): number | undefined {
  if (!pattern.mayMatch(text)) return undefined;
  for (let from = 0; from <= text.length; ) {
    const found = pattern.find(text, from);
    if (!found) return undefined;
    const [start, end] = found;
    const isDoubtful = pattern.isAnchored && ((start === 0 && !isStart) || (end === text.length && !isEnd));
    if (!isDoubtful) return start;
    from = Math.max(end, start + 1);
  }
  return undefined;
}
