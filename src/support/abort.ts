// Reads the state of a caller's signal. The signal may come from jsdom or a polyfill. Such a signal can lack `reason`
// and `throwIfAborted`, and `AbortSignal.any` refuses it.

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal);
}

/** Never undefined, so that the error always looks like an abort. */
export function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new DOMException("The operation was aborted", "AbortError");
}
