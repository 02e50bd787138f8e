// Asks a caller's signal whether it was aborted. It need not be Node's own AbortSignal: jsdom and polyfills bring theirs,
// which `AbortSignal.any` refuses, and which may lack `reason` and `throwIfAborted`.

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal);
}

/** Never undefined: a caller that catches it sees an abort. */
export function abortReason(signal: AbortSignal | undefined): unknown {
  return signal?.reason ?? new DOMException("The operation was aborted", "AbortError");
}
