// Reads the state of a caller's signal. The signal may come from jsdom or a polyfill. Such a signal can lack `reason`
// and `throwIfAborted`, and `AbortSignal.any` refuses it.

import { messageOf, NacreError } from "./errors.ts";
import { isErrorNamed } from "./realms.ts";

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal);
}

/**
 * The reason of the abort. It is never undefined, because a caller must always be able to recognize the error as an
 * abort.
 */
export function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new DOMException("The operation was aborted", "AbortError");
}

/**
 * Returns the error for a command that its caller cancelled before it started: `aborted`, with the caller's reason as
 * its cause. Returns any other error unchanged.
 */
export function asAborted(error: unknown, signal: AbortSignal | undefined): unknown {
  if (!signal?.aborted) return error;
  const isOurs = error instanceof NacreError && error.code === "aborted";
  if (!isOurs && error !== signal.reason && !isErrorNamed(error, "AbortError")) return error;
  const cause = abortReason(signal);
  const words = `The command was cancelled before it started: ${messageOf(cause)}`;
  return new NacreError("aborted", isOurs ? error.message : words, { cause });
}
