// Two clocks, never mixed: durations come from the monotonic one, because the wall clock may jump
// by hours; timestamps for people come from the wall clock.

/** Milliseconds that only ever grow. For durations and deadlines inside this process. */
export function monotonicMs(): number {
  return performance.now();
}

/** Milliseconds since the epoch. For "when", never for "how long". */
export function wallMs(): number {
  return Date.now();
}
