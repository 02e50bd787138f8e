// How long a foreground command may take, and how long its call waits for it. Clients of MCP give up on a call at about
// 60 seconds, so there the two differ: the call returns first, and the command keeps its deadline.
import type { RunOptions } from "../session/session-options.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

type TimingOptions = Pick<
  ResolvedExecutionOptions,
  "defaultTimeoutMs" | "defaultDeadline" | "maxTimeoutMs" | "onTimeout" | "returnAfterMs"
>;

/** `timeoutMs`: the command is killed then. `backgroundAfterMs`: the call returns then and the command runs on. */
export type CallTiming = Pick<RunOptions, "timeoutMs" | "backgroundAfterMs">;

/** `asked` is the timeout that the call names. */
export function timingOf(asked: number | undefined, options: TimingOptions): CallTiming {
  const { maxTimeoutMs, onTimeout, returnAfterMs } = options;
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

/** The sentence about it in the description of the tool. */
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
      `A call returns after ${returnAfterMs} ms at the latest: a command that still runs then goes on in the background, and you get what it printed so far and a bash_id. A timeout that is longer still ends it.`,
    );
  }
  if (returnAfterMs !== undefined && onTimeout === "background") {
    lines.push(`A call returns after ${returnAfterMs} ms at the latest, also with a longer timeout.`);
  }
  return lines.join(" ");
}

const AT_TIMEOUT = {
  kill: "When it is over, the command and everything it started is ended, and you get what it printed so far.",
  background:
    "When it is over, the command goes on in the background, and you get what it printed so far and a bash_id.",
} as const;
