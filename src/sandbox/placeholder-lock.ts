// A lock between nacre processes. The lock is a symbolic link whose text names its owner, because one system call
// creates the link together with its text. If the owner is dead, another process takes the lock over.
import { linkSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import type { ProcessIdentity } from "../engine/process-table.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { PLACEHOLDER_LOCK_MAX_MS, PLACEHOLDER_LOCK_POLL_MS } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

export interface LockOwner {
  /** This process. */
  readonly self: ProcessIdentity;
  readonly isAlive: (process: ProcessIdentity) => boolean;
}

/** Blocks the thread while another process holds the lock. The wait is short: the protected work takes milliseconds. */
export function withLock<T>(path: string, owner: LockOwner, work: () => T): T {
  take(path, owner);
  try {
    return work();
  } finally {
    attempt(() => unlinkSync(path));
  }
}

function take(path: string, { self, isAlive }: LockOwner): void {
  const deadline = monotonicMs() + PLACEHOLDER_LOCK_MAX_MS;
  for (;;) {
    try {
      symlinkSync(`${self.pid}-${self.startTime}`, path);
      return;
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    const text = attempt(() => readlinkSync(path));
    if (text !== undefined && !isHeld(text, isAlive)) {
      removeStale(path, text, self);
      continue;
    }
    if (monotonicMs() > deadline) {
      throw new NacreError(
        "spawn_failed",
        `The sandbox cannot start: process ${text ?? "unknown"} has held ${path} for ${PLACEHOLDER_LOCK_MAX_MS / 1000} s. Try again, or end that process if it hangs.`,
      );
    }
    Atomics.wait(NOTHING, 0, 0, PLACEHOLDER_LOCK_POLL_MS);
  }
}

function isHeld(text: string, isAlive: LockOwner["isAlive"]): boolean {
  const [, pid, startTime = ""] = /^(\d+)-(\d*)$/.exec(text) ?? [];
  return pid !== undefined && isAlive({ pid: Number(pid), startTime });
}

/** Renames the lock first. If the text then differs, another process has taken a new lock: put it back. */
function removeStale(path: string, text: string, { pid }: ProcessIdentity): void {
  const aside = `${path}.${pid}`;
  attempt(() => renameSync(path, aside));
  if (attempt(() => readlinkSync(aside)) !== text) attempt(() => linkSync(aside, path));
  attempt(() => unlinkSync(aside));
}

const NOTHING = new Int32Array(new SharedArrayBuffer(4));
