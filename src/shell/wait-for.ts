// Waits for a line of a shell's output, for a port or a file (readiness.ts), or for its end. Returns every ending as a
// value.

import type { ShellFiles } from "../engine/state-dir.ts";
import { monotonicMs } from "../support/clock.ts";
import { type ErrorCode, NacreError } from "../support/errors.ts";
import { excerpt } from "../support/excerpt.ts";
import { checkOptions } from "../support/option-checks.ts";
import { isRegExp } from "../support/realms.ts";
import { within, yieldTurn } from "../support/timing.ts";
import type { StreamName } from "./follow-output.ts";
import { describeOutcome, type Outcome } from "./outcome.ts";
import { type LineMatcher, LineSearch } from "./output-lines.ts";
import { OutputWatch } from "./output-watch.ts";
import { awaitFile, awaitPort, type Readiness, type ReadyTarget } from "./readiness.ts";

/** "exit" waits for the end. Any other text waits for a line that contains it. */
export type WaitFor = string | RegExp | WaitCondition;

export interface WaitCondition {
  /**
   * A line to wait for. The search begins at the start of the output or at `from`. Text matches a line that contains
   * it.
   */
  readonly pattern?: string | RegExp | LineMatcher;
  /** Wait for the end. */
  readonly exit?: true;
  /** Wait until a process of the shell listens on this TCP port. */
  readonly port?: number;
  /** Wait until this file exists. Relative to the directory of the shell. */
  readonly file?: string;
  readonly timeoutMs?: number;
  /** Expires the wait when aborted. */
  readonly signal?: AbortSignal;
  /** Where the search begins, in bytes. @default 0 */
  readonly from?: Readonly<Record<StreamName, number>>;
}

/** The limit of a wait: milliseconds, or an object that can also cancel it. */
export type WaitLimit = number | Pick<WaitCondition, "timeoutMs" | "signal">;

export type WaitResult =
  | { readonly kind: "matched"; readonly stream: StreamName; readonly line: string }
  | Readiness;

/** The result of waitFor. If waitFor waits for a line and the wait ends without it, waitFor throws. */
export type WaitedFor<What> = What extends RegExp | { readonly pattern: string | RegExp | LineMatcher }
  ? Extract<WaitResult, { kind: "matched" }>
  : What extends "exit" | { readonly exit: true }
    ? Extract<WaitResult, { kind: "ended" }>
    : What extends string
      ? // A text whose value the compiler does not know can be "exit".
        Extract<WaitResult, { kind: string extends What ? "matched" | "ended" : "matched" }>
      : WaitResult;

export interface WaitTarget extends Omit<ReadyTarget, "signal"> {
  readonly files: ShellFiles;
  readonly allowedRoots: readonly string[] | undefined;
}

export function conditionOf(what: WaitFor, limit?: WaitLimit): WaitCondition {
  const wanted = what === "exit" ? { exit: true as const } : what;
  const bare = typeof wanted === "string" || isRegExp(wanted) ? { pattern: wanted } : wanted;
  const condition = typeof limit === "object" && limit !== null ? { ...limit, ...bare } : bare;
  if (typeof limit !== "object" || limit === null) checkLimit(limit);
  checkOptions("shell.waitFor", condition);
  const { pattern, exit, port, file } = condition ?? {};
  if ([pattern, exit, port, file].filter((one) => one !== undefined).length !== 1) {
    throw new NacreError(
      "invalid_input",
      'waitFor needs something to wait for: text or a RegExp of a line, "exit", or an object with one of pattern, exit, port and file.',
    );
  }
  return condition;
}

/** 0 is valid: it asks for the state now. */
function checkLimit(limit: unknown): void {
  if (limit === undefined || (typeof limit === "number" && limit >= 0)) return;
  throw new NacreError(
    "invalid_input",
    `The timeout of a wait must be a number of milliseconds, or { timeoutMs }; it is ${excerpt(limit)}.`,
  );
}

/** The awaited condition, in words. */
export function describeWanted({ pattern, port, file }: WaitCondition): string {
  if (port !== undefined) return `port ${port}`;
  if (file !== undefined) return `the file ${file}`;
  return pattern === undefined ? "the end" : "the line";
}

/** Returns the result if the condition was met, otherwise throws. */
export function metOrThrow(
  result: WaitResult,
  condition: WaitCondition,
  id: string,
  limitMs: number | undefined,
): WaitResult {
  const { signal, exit } = condition;
  const wanted = describeWanted(condition);
  const remark = "remark" in result && result.remark !== undefined ? ` ${result.remark}` : "";
  if (result.kind === "unreachable") throw new NacreError("unavailable", result.remark);
  if (result.kind === "expired" && signal?.aborted)
    throw new NacreError("aborted", `The wait for ${wanted} of ${id} was cancelled; it is still running.`);
  if (result.kind === "expired")
    throw new NacreError(
      "timed_out",
      `Waited ${limitMs}ms for ${wanted} of ${id}; it is still running.${remark}`,
    );
  if (result.kind === "ended" && exit === undefined) {
    const missing = condition.pattern === undefined ? `${wanted} was ready` : "a line matched";
    const text = `${id} ${describeOutcome(result.outcome)} before ${missing}.${remark}`;
    throw new NacreError(missedLineCode(result.outcome), text);
  }
  return result;
}

/** The error code if the shell ended without printing the awaited line. */
export function missedLineCode(outcome: Outcome): ErrorCode {
  return outcome.kind === "exited" && outcome.code === 0 ? "no_match" : "exit_nonzero";
}

export async function awaitCondition(condition: WaitCondition, target: WaitTarget): Promise<WaitResult> {
  const { pattern, signal, port, file } = condition;
  if (port !== undefined) return await awaitPort(port, { ...target, signal });
  if (file !== undefined) return await awaitFile(file, { ...target, signal }, target.allowedRoots);
  if (!pattern) {
    const { life, deadline } = target;
    const outcome = life.outcome ?? (await within(deadline - monotonicMs(), life.ended, signal));
    return outcome ? { kind: "ended", outcome } : { kind: "expired" };
  }
  return await awaitLine(matcherOf(pattern), condition, target);
}

async function awaitLine(
  matcher: LineMatcher,
  { from, signal }: WaitCondition,
  { files, life, deadline }: WaitTarget,
): Promise<WaitResult> {
  const searches = (["stdout", "stderr"] as const).map((stream) => ({
    stream,
    search: new LineSearch(files[stream], from?.[stream] ?? 0, matcher),
  }));
  const watch = new OutputWatch(files.dir);
  const nudge = () => watch.nudge();
  void life.ended.then(nudge);
  signal?.addEventListener("abort", nudge, { once: true });
  try {
    for (;;) {
      // Read the outcome before the search: a line that was printed just before the end must count.
      const { outcome } = life;
      let more = false;
      for (const { stream, search } of searches) {
        const found = search.advance();
        if (typeof found === "object") return { kind: "matched", stream, line: found.line };
        if (found === "more") more = true;
      }
      if (outcome && !more) return { kind: "ended", outcome };
      const left = deadline - monotonicMs();
      if (left <= 0 || signal?.aborted) return { kind: "expired" };
      // Yield: a command that never stops printing must not block this thread or delay the deadline.
      if (more) await yieldTurn();
      else await watch.next(left);
    }
  } finally {
    signal?.removeEventListener("abort", nudge);
    watch.close();
  }
}

function matcherOf(pattern: string | RegExp | LineMatcher): LineMatcher {
  if (typeof pattern === "string") return { matches: (line) => line.includes(pattern) };
  if (!isRegExp(pattern)) return pattern;
  // Remove the flags g and y: with them, a pattern would continue the search after its last match.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  return { matches: (line) => stateless.test(line) };
}
