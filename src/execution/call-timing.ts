// The timeout of a foreground command, and the time after which its call returns. Over MCP the two differ: clients
// cancel a call after about 60 seconds, so the call returns earlier and the command keeps its deadline.
import type { RunOptions } from "../session/session-options.ts";
import { APPROVED_RUN_MIN_MS } from "../support/limits.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

type TimingOptions = Pick<
  ResolvedExecutionOptions,
  "defaultTimeoutMs" | "defaultDeadline" | "maxTimeoutMs" | "onTimeout" | "returnAfterMs"
>;

/** The command is killed after `timeoutMs`. The call returns after `backgroundAfterMs`, and the command continues. */
export type CallTiming = Pick<RunOptions, "timeoutMs" | "backgroundAfterMs">;

/** `asked` is the timeout in the call, `waitedMs` the time that the call has already waited for a person. */
export function timingOf(asked: number | undefined, options: TimingOptions, waitedMs = 0): CallTiming {
  const { maxTimeoutMs, onTimeout, returnAfterMs: limitMs } = options;
  const returnAfterMs =
    limitMs === undefined || waitedMs === 0 ? limitMs : Math.max(APPROVED_RUN_MIN_MS, limitMs - waitedMs);
  const wanted = asked ?? (options.defaultDeadline ? options.defaultTimeoutMs : undefined);
  const timeoutMs = wanted === undefined ? Number.POSITIVE_INFINITY : Math.min(wanted, maxTimeoutMs);
  const returnMs = returnAfterMs ?? Number.POSITIVE_INFINITY;
  if (onTimeout === "background") {
    const backgroundAfterMs = Math.min(timeoutMs, returnMs);
    return Number.isFinite(backgroundAfterMs) ? { backgroundAfterMs } : {};
  }
  return {
    ...(Number.isFinite(timeoutMs) ? { timeoutMs } : {}),
    ...(returnMs < timeoutMs ? { backgroundAfterMs: returnMs } : {}),
  };
}

/** The part of the tool description about timeouts. */
export function timingDescription(options: TimingOptions): string {
  const { maxTimeoutMs, onTimeout, returnAfterMs } = options;
  const { timeoutMs, backgroundAfterMs } = timingOf(undefined, options);
  const usualMs = onTimeout === "background" ? backgroundAfterMs : timeoutMs;
  const usual = usualMs === undefined ? "none" : `${usualMs} ms`;
  const lines = [
    `Timeout: ${usual} unless you set timeout (at most ${maxTimeoutMs}). ${AT_TIMEOUT[onTimeout]}`,
  ];
  if (returnAfterMs !== undefined && onTimeout === "kill") {
    lines.push(
      `A call returns after at most ${returnAfterMs} ms: a command that is still running then continues in the background, and you get its output so far and a bash_id. A longer timeout still kills it.`,
    );
  }
  if (returnAfterMs !== undefined && onTimeout === "background") {
    lines.push(`A call returns after at most ${returnAfterMs} ms, even with a longer timeout.`);
  }
  return lines.join(" ");
}

const AT_TIMEOUT = {
  kill: "When it expires, the command and everything it started is killed, and you get its output so far.",
  background:
    "When it expires, the command continues in the background, and you get its output so far and a bash_id.",
} as const;
