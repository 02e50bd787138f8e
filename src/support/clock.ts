// Two clocks that are never mixed. Durations use the monotonic clock, because the wall clock can jump by hours.
// Timestamps for people use the wall clock.

/** Milliseconds that never decrease. For durations and deadlines inside this process. */
export function monotonicMs(): number {
  return performance.now();
}

/** Milliseconds since the epoch. For timestamps, never for durations. */
export function wallMs(): number {
  return Date.now();
}
