// Allows one commit or undo at a time per workspace, among all nacre processes with the same state root.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type LockOwner, tryLock, unlock } from "../engine/process-lock.ts";
import { isSameProcess, thisProcess } from "../engine/process-table.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { PREVIEW_LOCK_MAX_MS, PREVIEW_LOCK_POLL_MS } from "../support/limits.ts";
import { bytesOfText, shownPath } from "../support/path-text.ts";
import { KeyedSemaphore } from "../support/semaphore.ts";
import { sleep } from "../support/timing.ts";
import type { PreviewStore } from "./preview-store.ts";
import { recoverPending } from "./recover-pending.ts";

/** The lock on disk identifies only the process, so calls within one process also need this semaphore. */
const inThisProcess = new KeyedSemaphore(1);

export async function withWorkspaceLock<T>(
  store: PreviewStore,
  workspace: string,
  work: () => Promise<T>,
): Promise<T> {
  store.ensure();
  const path = lockPath(store, workspace);
  using _turn = await inThisProcess.take(path, { signal: undefined });
  const deadline = monotonicMs() + PREVIEW_LOCK_MAX_MS;
  const owner = lockOwner();
  for (let holder = tryLock(path, owner); holder !== undefined; holder = tryLock(path, owner)) {
    if (monotonicMs() > deadline) {
      throw new NacreError(
        "limit_reached",
        `Another nacre process (PID ${holder.split("-")[0]}) has been changing ${shownPath(workspace)} for ${PREVIEW_LOCK_MAX_MS / 1000} s. Nothing was written. Try again, or end that process if it hangs.`,
      );
    }
    await sleep(PREVIEW_LOCK_POLL_MS);
  }
  try {
    // Recover first: another process may have been killed during a commit in this workspace.
    recoverPending(store, workspace);
    return await work();
  } finally {
    unlock(path);
  }
}

/** Runs `work` unless another process has the lock. */
export function tryWithWorkspaceLock(store: PreviewStore, workspace: string, work: () => void): void {
  const path = lockPath(store, workspace);
  if (tryLock(path, lockOwner()) !== undefined) return;
  try {
    work();
  } finally {
    unlock(path);
  }
}

function lockPath({ dir }: PreviewStore, workspace: string): string {
  const name = createHash("sha256").update(bytesOfText(workspace)).digest("hex").slice(0, 16);
  return join(dir, `lock-${name}`);
}

function lockOwner(): LockOwner {
  return { self: thisProcess(), isAlive: ({ pid, startTime }) => isSameProcess(pid, startTime) };
}
