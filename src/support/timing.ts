// Functions that wait.
import { TIMER_MAX_MS } from "./limits.ts";

/** `keepsAlive`: whether the program runs until the sleep is over, even without other work. */
export function sleep(ms: number, { keepsAlive = true } = {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (!keepsAlive) timer.unref();
  });
}

/** Lets other work in the event loop run. */
export function yieldTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A promise that its owner settles from outside. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: Deferred<T>["resolve"] = () => {};
  let reject: Deferred<T>["reject"] = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/**
 * Returns the value of the promise, or undefined after `ms` or when the signal aborts. If `ms` exceeds the longest
 * possible timer, the wait has no time limit. Leaves no timer and no listener behind.
 */
export async function within<T>(
  ms: number,
  promise: Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const late = deferred<undefined>();
  const expire = () => late.resolve(undefined);
  const timer = ms <= TIMER_MAX_MS ? setTimeout(expire, Math.max(0, ms)) : undefined;
  if (signal?.aborted) expire();
  signal?.addEventListener("abort", expire, { once: true });
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", expire);
  }
}
