// Waits for a line of a shell's output, or for its end. Returns every ending as a value.

import type { ShellFiles } from "../engine/state-dir.ts";
import { monotonicMs } from "../support/clock.ts";
import { type ErrorCode, NacreError } from "../support/errors.ts";
import { checkOptions } from "../support/option-checks.ts";
import { isRegExp } from "../support/realms.ts";
import { within, yieldTurn } from "../support/timing.ts";
import type { StreamName } from "./follow-output.ts";
import { describeOutcome, type Outcome } from "./outcome.ts";
import { type LineMatcher, LineSearch } from "./output-lines.ts";
import { OutputWatch } from "./output-watch.ts";

/** "exit" waits for the end, other text for a line that contains it. */
export type WaitFor = string | RegExp | WaitCondition;

export interface WaitCondition {
  /** A line to wait for, searched from the start of the output or from `from`. Text: a line that contains it. */
  readonly pattern?: string | RegExp | LineMatcher;
  /** Wait for the end. */
  readonly exit?: true;
  readonly timeoutMs?: number;
  /** Expires the wait when aborted. */
  readonly signal?: AbortSignal;
  /** Where the search begins, in bytes. @default 0 */
  readonly from?: Readonly<Record<StreamName, number>>;
}

export type WaitResult =
  | { readonly kind: "matched"; readonly stream: StreamName; readonly line: string }
  | { readonly kind: "ended"; readonly outcome: Outcome }
  | { readonly kind: "expired" };

export interface WaitTarget {
  readonly files: ShellFiles;
  readonly life: { readonly outcome: Outcome | undefined; readonly ended: Promise<Outcome> };
  /** On the monotonic clock. */
  readonly deadline: number;
}

export function conditionOf(what: WaitFor): WaitCondition {
  if (what === "exit") return { exit: true };
  const condition = typeof what === "string" || isRegExp(what) ? { pattern: what } : what;
  checkOptions("shell.waitFor", condition);
  if ((condition?.pattern === undefined) === (condition?.exit === undefined)) {
    throw new NacreError(
      "invalid_input",
      'waitFor needs something to wait for: text or a RegExp of a line, "exit", or an object with either pattern or exit.',
    );
  }
  return condition;
}

/** The result of a wait that got what it waited for. Throws for the others. */
export function metOrThrow(
  result: WaitResult,
  { signal, pattern }: WaitCondition,
  id: string,
  limitMs: number | undefined,
): WaitResult {
  const wanted = pattern === undefined ? "the end" : "the line";
  if (result.kind === "expired" && signal?.aborted)
    throw new NacreError("aborted", `The wait for ${wanted} of ${id} was cancelled; it is still running.`);
  if (result.kind === "expired")
    throw new NacreError("timed_out", `Waited ${limitMs}ms for ${wanted} of ${id}; it is still running.`);
  if (result.kind === "ended" && pattern !== undefined) {
    const text = `${id} ${describeOutcome(result.outcome)} before the line came.`;
    throw new NacreError(missedLineCode(result.outcome), text);
  }
  return result;
}

/** The code of a wait for a line that the shell ended without printing. */
export function missedLineCode(outcome: Outcome): ErrorCode {
  return outcome.kind === "exited" && outcome.code === 0 ? "no_match" : "exit_nonzero";
}

export async function awaitCondition(condition: WaitCondition, target: WaitTarget): Promise<WaitResult> {
  const { pattern, signal } = condition;
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
      // Read the outcome before the search: a line printed just before the end must win.
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
  // A global or sticky pattern keeps the position of its last match.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  return { matches: (line) => stateless.test(line) };
}
