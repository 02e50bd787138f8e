// Searches and pages through everything that a shell has printed. Moves no cursor. A worker thread does the work, so
// that the host process stays responsive, however much output there is.
//
//   searchOutput -> checkSearch              refuses wrong options before anything is read
//                -> runWorker                output-search-worker.ts: compiles the pattern, because loading RE2 would
//                                            block the host; scan (output-search-scan.ts), then the lines to show
//                                            (output-search-excerpt.ts)
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { NacreError } from "../support/errors.ts";
import { holdEventLoop } from "../support/event-loop-hold.ts";
import {
  OUTPUT_MAX_CHARS,
  SEARCH_CONTEXT_MAX_COUNT,
  SEARCH_DEFAULT_MS,
  SEARCH_HEAP_MAX_BYTES,
} from "../support/limits.ts";
import { isRegExp } from "../support/realms.ts";
import type { StreamName } from "./follow-output.ts";
import type { OutputPart } from "./output-part.ts";
import type { ShownLine } from "./output-search-excerpt.ts";
import type { SearchAnswer, SearchJob, SearchReply, StreamAnswer } from "./output-search-worker.ts";

export type { ShownLine } from "./output-search-excerpt.ts";

export interface SearchOptions {
  /** Lines to show before and after each match. @default 0 */
  readonly contextLines?: number;
  /** Begins at this line of each stream, counted from 1. @default 1 */
  readonly fromLine?: number;
  /** Shows at most this many lines. @default as many as fit */
  readonly maxLines?: number;
  /** Only the last lines of each stream. Not together with fromLine. @default all */
  readonly tailLines?: number;
  /** @default both, stdout first */
  readonly stream?: StreamName;
  /** Stops after this time and reports how far the search got. @default 30,000 */
  readonly timeoutMs?: number;
  /** Characters of all shown lines together. @default 30,000 */
  readonly maxChars?: number;
  readonly signal?: AbortSignal;
}

/** One stream of a search. */
export interface SearchedStream {
  readonly stream: StreamName;
  readonly matches: number;
  /** The number of the last line that the search reached. If `isComplete`, the last line of the stream. */
  readonly lastLine: number;
  readonly isComplete: boolean;
  readonly searchedBytes: number;
  readonly totalBytes: number;
}

export interface SearchResult {
  /** The matching lines and their context, as plain text. A very long line is cut to the part around the match. */
  readonly lines: readonly ShownLine[];
  /** All matching lines, shown or not. */
  readonly matches: number;
  readonly searchedLines: number;
  /** The highest line number that the search reached in any stream. */
  readonly lastLine: number;
  /** False if the time was over before the end of the output. */
  readonly isComplete: boolean;
  readonly streams: readonly SearchedStream[];
  /** The first line that would be shown next; undefined if the result shows everything. */
  readonly next: { readonly stream: StreamName; readonly line: number } | undefined;
}

/** What a search reads: the output of one shell. */
export interface SearchedOutput {
  readonly id: string;
  readonly parts: Readonly<Record<StreamName, OutputPart>>;
}

/** `pattern`: RE2 syntax, or a RegExp that RE2 understands. undefined: shows every line. */
export async function searchOutput(
  { id, parts }: SearchedOutput,
  pattern: string | RegExp | undefined,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const { signal, stream, fromLine = 1, contextLines = 0 } = options;
  const source = isRegExp(pattern) ? sourceOf(pattern) : pattern;
  checkSearch(source, options);
  const wanted = (["stdout", "stderr"] as const).filter((name) => stream === undefined || name === stream);
  checkPresent(id, parts);
  if (signal?.aborted) throw cancelled();
  const job: SearchJob = {
    parts: wanted.map((name) => ({ stream: name, part: parts[name] })),
    source,
    fromLine,
    tailLines: options.tailLines,
    contextLines,
    maxLines: options.maxLines ?? Number.MAX_SAFE_INTEGER,
    maxChars: options.maxChars ?? OUTPUT_MAX_CHARS,
    timeoutMs: options.timeoutMs ?? SEARCH_DEFAULT_MS,
  };
  const answer = await runWorker(job, signal);
  // The sweep can remove the files during the search.
  checkPresent(id, parts);
  checkFromLine(fromLine, answer.streams);
  return resultOf(answer);
}

/** Throws if the files of the shell were removed: otherwise the result would look like output without a match. */
export function checkPresent(id: string, parts: SearchedOutput["parts"]): void {
  if (existsSync(parts.stdout.path) || existsSync(parts.stderr.path)) return;
  throw sweptError(id);
}

export function sweptError(id: string): NacreError {
  return new NacreError(
    "swept",
    `The output of ${id} was removed: nacre deletes the files of ended shells that are old or exceed the disk quota, and nacre clean deletes them at once. Run the command again.`,
  );
}

/** RE2 has the same flags i and s. The other flags of JavaScript do not change which lines match. */
function sourceOf({ source, flags }: RegExp): string {
  const kept = [...flags].filter((flag) => flag === "i" || flag === "s").join("");
  return kept === "" ? source : `(?${kept})${source}`;
}

function checkSearch(source: string | undefined, options: SearchOptions): void {
  const { contextLines, fromLine, tailLines } = options;
  if (contextLines !== undefined && contextLines > 0 && source === undefined)
    throw refused("context_lines needs search: it adds the lines around each match.");
  if (contextLines !== undefined && contextLines > SEARCH_CONTEXT_MAX_COUNT)
    throw refused(`context_lines must be at most ${SEARCH_CONTEXT_MAX_COUNT}, got ${contextLines}.`);
  if (fromLine !== undefined && tailLines !== undefined)
    throw refused("from_line and tail_lines exclude each other: give one of them.");
}

/** Throws if the line is after the end of every stream, because an empty result would hide the caller's mistake. */
function checkFromLine(fromLine: number, streams: readonly StreamAnswer[]): void {
  if (fromLine === 1 || streams.some(({ lastLine, isComplete }) => !isComplete || lastLine >= fromLine))
    return;
  const last = streams.map(({ stream, lastLine }) => `the last line of ${stream} is ${lastLine}`);
  throw refused(`from_line ${fromLine} is past the end: ${last.join(", ")}.`);
}

function cancelled(): NacreError {
  return new NacreError("aborted", "The search was cancelled.");
}

function refused(message: string): NacreError {
  return new NacreError("invalid_input", message);
}

function resultOf({ lines, streams, next }: SearchAnswer): SearchResult {
  return {
    lines,
    matches: streams.reduce((sum, { matches }) => sum + matches, 0),
    searchedLines: streams.reduce((sum, { searchedLines }) => sum + searchedLines, 0),
    lastLine: Math.max(0, ...streams.map(({ lastLine }) => lastLine)),
    isComplete: streams.every(({ isComplete }) => isComplete),
    streams: streams.map(({ stream, matches, lastLine, isComplete, reached, from, to }) => ({
      stream,
      matches,
      lastLine,
      isComplete,
      searchedBytes: reached - from,
      totalBytes: to - from,
    })),
    next,
  };
}

// This path is also correct in the bundle in dist/cli. From source, Node cannot run TypeScript in a worker.
const BUILT = import.meta.url.endsWith(".ts") ? "../../dist/search-worker.js" : "../search-worker.js";

async function runWorker(workerData: SearchJob, signal: AbortSignal | undefined): Promise<SearchAnswer> {
  using _hold = holdEventLoop();
  const worker = new Worker(fileURLToPath(new URL(BUILT, import.meta.url)), {
    workerData,
    // Neither the options nor the environment of the host may change what the worker runs.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: SEARCH_HEAP_MAX_BYTES / 1024 ** 2 },
  });
  let onAbort = () => {};
  try {
    return await new Promise<SearchAnswer>((resolve, reject) => {
      onAbort = () => reject(cancelled());
      signal?.addEventListener("abort", onAbort, { once: true });
      worker.once("message", (reply: SearchReply) => {
        if ("refusal" in reply) reject(refused(reply.refusal));
        else resolve(reply);
      });
      worker.once("error", reject);
      worker.once("exit", () => reject(new NacreError("internal", "The search ended without a result.")));
    });
  } finally {
    signal?.removeEventListener("abort", onAbort);
    void worker.terminate();
  }
}
