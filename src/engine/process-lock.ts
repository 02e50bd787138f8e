// A lock between nacre processes. The lock is a symbolic link whose text names its owner: one system call creates the
// link together with its text. If the owner is dead, another process takes the lock over.
import { readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { systemCode } from "../support/system-error.ts";
import type { ProcessIdentity } from "./process-table.ts";

export interface LockOwner {
  /** This process. */
  readonly self: ProcessIdentity;
  readonly isAlive: (process: ProcessIdentity) => boolean;
}

/**
 * Tries to take the lock without waiting. Returns undefined if this process has the lock now, else the text that
 * names the holder.
 */
export function tryLock(path: string, owner: LockOwner): string | undefined {
  for (;;) {
    if (create(path, owner)) return undefined;
    const text = attempt(() => readlinkSync(path));
    // The holder has just released the lock: try again.
    if (text === undefined) continue;
    if (isHeld(text, owner)) return text;
    if (!removeStale(path, text, owner)) return text;
  }
}

export function unlock(path: string): void {
  attempt(() => unlinkSync(path));
}

function create(path: string, { self }: LockOwner): boolean {
  try {
    symlinkSync(`${self.pid}-${self.startTime}`, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

function isHeld(text: string, { isAlive }: LockOwner): boolean {
  const [, pid, startTime = ""] = /^(\d+)-(\d*)$/.exec(text) ?? [];
  return pid !== undefined && isAlive({ pid: Number(pid), startTime });
}

/**
 * Removes the lock of a dead process. Two processes may find the same dead owner: without a second lock, the slower one
 * would remove the new lock of the faster one. Returns false if another process is removing it at this moment.
 */
function removeStale(path: string, text: string, owner: LockOwner): boolean {
  const guard = `${path}.stale`;
  if (!create(guard, owner)) {
    const holder = attempt(() => readlinkSync(guard));
    // The process that was removing the lock died as well.
    if (holder !== undefined && !isHeld(holder, owner)) attempt(() => unlinkSync(guard));
    return false;
  }
  try {
    if (attempt(() => readlinkSync(path)) === text) attempt(() => unlinkSync(path));
    return true;
  } finally {
    attempt(() => unlinkSync(guard));
  }
}
