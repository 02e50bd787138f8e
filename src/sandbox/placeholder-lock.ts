// Waits for a lock between nacre processes and runs short work under it.
import { type LockOwner, tryLock, unlock } from "../engine/process-lock.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { PLACEHOLDER_LOCK_MAX_MS, PLACEHOLDER_LOCK_POLL_MS } from "../support/limits.ts";

/** Blocks the thread while another process holds the lock. The wait is short: the protected work takes milliseconds. */
export function withLock<T>(path: string, owner: LockOwner, work: () => T): T {
  take(path, owner);
  try {
    return work();
  } finally {
    unlock(path);
  }
}

function take(path: string, owner: LockOwner): void {
  const deadline = monotonicMs() + PLACEHOLDER_LOCK_MAX_MS;
  for (let holder = tryLock(path, owner); holder !== undefined; holder = tryLock(path, owner)) {
    if (monotonicMs() > deadline) {
      throw new NacreError(
        "spawn_failed",
        `The sandbox cannot start: process ${holder} has held ${path} for ${PLACEHOLDER_LOCK_MAX_MS / 1000} s. Try again, or end that process if it hangs.`,
      );
    }
    Atomics.wait(NOTHING, 0, 0, PLACEHOLDER_LOCK_POLL_MS);
  }
}

const NOTHING = new Int32Array(new SharedArrayBuffer(4));
