// Waits for a line or for the end of a shell. Every ending is a value; who throws is the caller's business.

import type { ShellFiles } from "../engine/layout.ts";
import { monotonicMs } from "../support/clock.ts";
import { TIMER_MAX_MS } from "../support/limits.ts";
import { isRegExp } from "../support/realms.ts";
import { yieldTurn } from "../support/timing.ts";
import type { StreamName } from "./follow-output.ts";
import type { Outcome } from "./outcome.ts";
import { type LineMatcher, LineSearch } from "./output-lines.ts";
import { OutputWatch } from "./output-watch.ts";

export interface WaitCondition {
  /** A line to wait for, in what was printed from the start (or `from`). */
  readonly pattern?: RegExp | LineMatcher;
  /** Wait for the end. */
  readonly exit?: true;
  readonly timeoutMs?: number;
  /** Gives up when aborted, as if the time were over. */
  readonly signal?: AbortSignal;
  /** Where to begin to look, in bytes. @default 0 */
  readonly from?: Readonly<Record<StreamName, number>>;
}

export type WaitResult =
  | { readonly kind: "matched"; readonly stream: StreamName; readonly line: string }
  | { readonly kind: "ended"; readonly outcome: Outcome }
  | { readonly kind: "expired" };

export interface WaitPlace {
  readonly files: ShellFiles;
  readonly life: { readonly outcome: Outcome | undefined; readonly ended: Promise<Outcome> };
  /** On the monotonic clock. */
  readonly deadline: number;
}

export async function lookFor(condition: WaitCondition, place: WaitPlace): Promise<WaitResult> {
  const { pattern, signal } = condition;
  if (!pattern) {
    if (place.life.outcome) return { kind: "ended", outcome: place.life.outcome };
    const outcome = await withDeadline(place.life.ended, place.deadline, signal);
    return outcome ? { kind: "ended", outcome } : { kind: "expired" };
  }
  return await lookForLine(isRegExp(pattern) ? matcherOf(pattern) : pattern, condition, place);
}

async function lookForLine(
  matcher: LineMatcher,
  { from, signal }: WaitCondition,
  { files, life, deadline }: WaitPlace,
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
      // Asked before looking: a line printed just before the end must win.
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
      // A command that never stops printing must not keep others from running, or the deadline from coming.
      if (more) await yieldTurn();
      else await watch.next(left);
    }
  } finally {
    signal?.removeEventListener("abort", nudge);
    watch.close();
  }
}

function matcherOf(pattern: RegExp): LineMatcher {
  // A global or sticky pattern would remember where it stopped.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  return { matches: (line) => stateless.test(line) };
}

async function withDeadline<T>(
  promise: Promise<T>,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (() => void) | undefined;
  const expired = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
    if (signal?.aborted) giveUp();
    signal?.addEventListener("abort", giveUp, { once: true });
    const left = Math.max(0, deadline - monotonicMs());
    if (left <= TIMER_MAX_MS) timer = setTimeout(giveUp, left);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
    if (giveUp) signal?.removeEventListener("abort", giveUp);
  }
}
