// Allows one writer per file among all nacre processes with the same state root. Other programs do not use the lock,
// and can write to the file at any moment. The version check right before the rename detects most of their changes.
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type LockOwner, tryLock, unlock } from "../engine/process-lock.ts";
import { isSameProcess, thisProcess } from "../engine/process-table.ts";
import { FILES_NAMES, ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { throwIfAborted } from "../support/abort.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { FILE_LOCK_MAX_MS, FILE_LOCK_POLL_MS } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { bytesOfText, shownPath } from "../support/path-text.ts";
import { KeyedSemaphore } from "../support/semaphore.ts";
import { sleep } from "../support/timing.ts";

/**
 * One writer per file in this process. The lock on disk names only the process, so it cannot separate these writers.
 */
const writers = new KeyedSemaphore(1);

/** `real`: the path without links. */
export async function withFileLock<T>(
  root: StateRoot,
  real: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const directory = locksOf(root);
  const path = join(directory, createHash("sha256").update(bytesOfText(real)).digest("hex"));
  using _turn = await writers.take(path, { signal });
  root.ensure();
  makeDirs(directory);
  await take(path, real, signal);
  try {
    return await work();
  } finally {
    unlock(path);
  }
}

/** Removes the locks of dead hosts: otherwise the lock of a file that is never written again would remain forever. */
export function tidyFileLocks(root: StateRoot): void {
  const directory = locksOf(root);
  for (const name of attempt(() => readdirSync(directory)) ?? []) {
    if (!/^[0-9a-f]{64}$/.test(name)) continue;
    const path = join(directory, name);
    // The first attempt fails if a host was killed while it took over another host's lock.
    const isTaken = [1, 2].some(() => attempt(() => tryLock(path, owner()) === undefined) === true);
    if (isTaken) unlock(path);
  }
}

function locksOf(root: StateRoot): string {
  return join(root.path, ROOT_NAMES.files, FILES_NAMES.locks);
}

async function take(path: string, real: string, signal: AbortSignal | undefined): Promise<void> {
  const deadline = monotonicMs() + FILE_LOCK_MAX_MS;
  for (let holder = tryLock(path, owner()); holder !== undefined; holder = tryLock(path, owner())) {
    throwIfAborted(signal);
    if (monotonicMs() > deadline) {
      throw new NacreError(
        "limit_reached",
        `${shownPath(real)} was not written: another nacre process (PID ${holder.split("-")[0]}) has been writing it for ${FILE_LOCK_MAX_MS / 1000} s. Try again, or end that process if it hangs.`,
      );
    }
    await sleep(FILE_LOCK_POLL_MS);
  }
}

function owner(): LockOwner {
  return { self: thisProcess(), isAlive: ({ pid, startTime }) => isSameProcess(pid, startTime) };
}
