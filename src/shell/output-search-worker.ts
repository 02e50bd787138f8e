// The worker thread of a search: gets a SearchJob, answers with a SearchReply, ends. tsdown.config.ts bundles it into
// dist/search-worker.js.
import { parentPort, workerData } from "node:worker_threads";
import { readRange } from "../engine/cursor.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { READ_CHUNK_BYTES } from "../support/limits.ts";
import { compileSearch, type SearchPattern } from "../text/search-pattern.ts";
import type { StreamName } from "./follow-output.ts";
import type { OutputPart } from "./output-part.ts";
import { type ShownLine, shownLines } from "./output-search-excerpt.ts";
import { type FoundLine, type ScanResult, scanStream } from "./output-search-scan.ts";

export interface SearchJob {
  readonly parts: readonly { readonly stream: StreamName; readonly part: OutputPart }[];
  /** RE2. undefined: every line. */
  readonly source: string | undefined;
  readonly fromLine: number;
  readonly tailLines: number | undefined;
  readonly contextLines: number;
  readonly maxLines: number;
  /** Characters of all shown lines together. */
  readonly maxChars: number;
  readonly timeoutMs: number;
}

export interface StreamAnswer extends ScanResult {
  readonly stream: StreamName;
  /** Where the searched part begins and ends, in bytes. */
  readonly from: number;
  readonly to: number;
}

export interface SearchAnswer {
  readonly lines: readonly ShownLine[];
  readonly streams: readonly StreamAnswer[];
  /** The first match that is not among the lines. */
  readonly next: { readonly stream: StreamName; readonly line: number } | undefined;
}

/** A refusal is a value, because an error would cross the thread boundary without its code. */
export type SearchReply = SearchAnswer | { readonly refusal: string };

function replyTo(job: SearchJob): SearchReply {
  const deadline = monotonicMs() + job.timeoutMs;
  try {
    return search(job, job.source === undefined ? undefined : compileSearch(job.source, "search"), deadline);
  } catch (error) {
    if (error instanceof NacreError && error.code === "invalid_input") return { refusal: error.message };
    throw error;
  }
}

function search(job: SearchJob, pattern: SearchPattern | undefined, deadline: number): SearchAnswer {
  const lines: ShownLine[] = [];
  const streams: StreamAnswer[] = [];
  let next: SearchAnswer["next"];
  let linesLeft = job.maxLines;
  let charsLeft = job.maxChars;
  for (const { stream, part } of job.parts) {
    const found: FoundLine[] = [];
    const most = Math.min(linesLeft, Math.ceil(charsLeft / LEAST_LINE.length));
    const onMatch = (line: FoundLine) => {
      if (found.length < most) found.push(line);
      else next ??= { stream, line: line.line };
      return next === undefined;
    };
    const fromByte = job.tailLines === undefined ? undefined : tailStart(part, job.tailLines);
    const { fromLine, contextLines } = job;
    const scanned = scanStream({ ...part, pattern, fromLine, fromByte, deadline, onMatch });
    streams.push({ ...scanned, stream, from: part.from, to: part.to });
    for (const line of shownLines(found, { stream, part, pattern, contextLines })) {
      const prefix = `${stream}:${line.line}: `;
      const chars = prefix.length + line.text.length + BETWEEN.length;
      if (chars > charsLeft && lines.length > 0) {
        next = { stream, line: found.find((one) => one.line >= line.line)?.line ?? line.line };
        charsLeft = 0;
        break;
      }
      // Always show something, however small the limit is.
      const text = chars > charsLeft ? line.text.slice(0, Math.max(0, charsLeft - prefix.length)) : line.text;
      charsLeft -= chars;
      if (line.isMatch) linesLeft--;
      lines.push({ ...line, text });
    }
  }
  return { lines, streams, next };
}

/** The text between two groups of lines. */
const BETWEEN = "\n--\n";

/** The shortest line that a result can show. */
const LEAST_LINE = "stdout:1: \n";

const NEWLINE = 0x0a;

/** Where the last lines begin. */
function tailStart({ path, from, to }: OutputPart, lines: number): number {
  // The newline at the end of the last line does not start another line.
  let end = to - 1;
  let left = lines;
  while (end > from) {
    const start = Math.max(from, end - READ_CHUNK_BYTES);
    const bytes = readRange(path, start, end);
    let at = bytes.lastIndexOf(NEWLINE);
    while (at !== -1) {
      if (--left === 0) return start + at + 1;
      at = at === 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1);
    }
    end = start;
  }
  return from;
}

parentPort?.postMessage(replyTo(workerData as SearchJob));
