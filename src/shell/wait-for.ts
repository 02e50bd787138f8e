// Waits for a line of a shell's output, or for its end. Returns every ending as a value.

import type { ShellFiles } from "../engine/state-dir.ts";
import { monotonicMs } from "../support/clock.ts";
import { isRegExp } from "../support/realms.ts";
import { within, yieldTurn } from "../support/timing.ts";
import type { StreamName } from "./follow-output.ts";
import type { Outcome } from "./outcome.ts";
import { type LineMatcher, LineSearch } from "./output-lines.ts";
import { OutputWatch } from "./output-watch.ts";

export interface WaitCondition {
  /** A line to wait for, searched from the start of the output or from `from`. */
  readonly pattern?: RegExp | LineMatcher;
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

export async function awaitCondition(condition: WaitCondition, target: WaitTarget): Promise<WaitResult> {
  const { pattern, signal } = condition;
  if (!pattern) {
    const { life, deadline } = target;
    const outcome = life.outcome ?? (await within(deadline - monotonicMs(), life.ended, signal));
    return outcome ? { kind: "ended", outcome } : { kind: "expired" };
  }
  return await awaitLine(isRegExp(pattern) ? matcherOf(pattern) : pattern, condition, target);
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

function matcherOf(pattern: RegExp): LineMatcher {
  // A global or sticky pattern keeps the position of its last match.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  return { matches: (line) => stateless.test(line) };
}
