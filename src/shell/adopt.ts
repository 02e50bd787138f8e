// Handles the shells of dead host processes: takes over the durable ones and ends the others. abandoned-keepers.ts
// ends bashes that never got a job, and removes the directories of dead keepers.

import { progressOf, readStartedShell } from "../engine/attach.ts";
import { readEndRecord, writeCause } from "../engine/end-record.ts";
import { type Lease, readLease, takeOver } from "../engine/lease.ts";
import type { ProcessScope } from "../engine/process-scope.ts";
import { isSameProcess, type ProcessIdentity, processKey, thisProcess } from "../engine/process-table.ts";
import { continueShim } from "../engine/signals.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import type { StateRoot } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { ADOPT_CHUNK_COUNT, ADOPT_MAX_MS, ADOPT_POLL_MS, ADOPT_UNCLEAR_MAX_MS } from "../support/limits.ts";
import { sleep, yieldTurn } from "../support/timing.ts";
import { removeAbandonedKeepers } from "./abandoned-keepers.ts";
import { endShells } from "./kill.ts";

export interface Adoption {
  /** Durable shells that this host process owns from now on, running or ended. */
  readonly adopted: readonly StartedShell[];
  /** False if the time was up before all shells were checked. getShell() still finds the unchecked shells on disk. */
  readonly complete: boolean;
}

interface AbandonedShell {
  readonly shell: StartedShell;
  /** The shell's host died before it could send the job. */
  readonly neverStarted: boolean;
}

export async function adoptShells(scope: ProcessScope, root: StateRoot): Promise<Adoption> {
  const deadline = monotonicMs() + ADOPT_MAX_MS;
  const adopted: StartedShell[] = [];
  const ended: { readonly shell: StartedShell; readonly lease: Lease }[] = [];
  const toEnd: AbandonedShell[] = [];
  const isAlive = rememberHolders();
  const check = async (id: string): Promise<void> => {
    // An unreadable record, or a directory that is being removed, must not affect other shells.
    const shell = readStartedShell(root, id);
    const lease = shell && attempt(() => readLease(shell.files, shell.meta));
    if (!shell || !lease || !isAbandoned(shell, lease, isAlive)) return;
    const hasEnded = isOver(shell);
    const neverStarted = !hasEnded && (await isWaiting(shell));
    const over = hasEnded || neverStarted;
    if (shell.unseen === undefined && (over || !shell.meta.durable)) toEnd.push({ shell, neverStarted });
    if (!shell.meta.durable || lease.over) return;
    if (over) ended.push({ shell, lease });
    else if (takeOver(shell.files, lease, thisProcess(), false)) adopted.push(shell);
  };
  let complete = await forEachUntil(deadline, root.list(), check);
  await endAbandoned(scope, toEnd);
  // Take over ended shells last: they need no owner, so it does not matter if a slow disk leaves no time for them.
  complete &&= await forEachUntil(deadline, ended, async ({ shell, lease }) => {
    if (takeOver(shell.files, lease, thisProcess(), true)) adopted.push(shell);
  });
  removeAbandonedKeepers(root);
  return { adopted, complete };
}

/** Yields to the event loop now and then. Returns whether there was time for all items. */
async function forEachUntil<T>(
  deadline: number,
  items: readonly T[],
  use: (item: T) => Promise<void>,
): Promise<boolean> {
  for (const [index, item] of items.entries()) {
    if (monotonicMs() > deadline) return false;
    if (index % ADOPT_CHUNK_COUNT === ADOPT_CHUNK_COUNT - 1) await yieldTurn();
    await use(item);
  }
  return true;
}

/** A holder in another PID namespace is invisible here and may be alive. After a reboot, every holder is dead. */
function isAbandoned(
  { origin }: StartedShell,
  { holder }: Lease,
  isAlive: (holder: ProcessIdentity) => boolean,
): boolean {
  if (origin === "another namespace") return false;
  return origin === "another boot" || !holder || !isAlive(holder);
}

/** Checks each holder once, because thousands of shells can have the same holder. */
function rememberHolders(): (holder: ProcessIdentity) => boolean {
  const known = new Map<string, boolean>();
  return (holder) => {
    const key = processKey(holder);
    const alive = known.get(key) ?? isSameProcess(holder.pid, holder.startTime);
    known.set(key, alive);
    return alive;
  };
}

/** Whether the shell still waits for a job, which its dead host can no longer send. */
async function isWaiting(shell: StartedShell): Promise<boolean> {
  if (shell.unseen !== undefined) return false;
  const deadline = monotonicMs() + ADOPT_UNCLEAR_MAX_MS;
  for (;;) {
    const progress = progressOf(shell);
    if (progress !== "unclear" || monotonicMs() > deadline) return progress === "waiting";
    await sleep(ADOPT_POLL_MS);
  }
}

/** Whether the shell has an exit record or will never get one. Any processes that it still has are leftovers. */
function isOver({ files, unseen, shimPid, shimStart }: StartedShell): boolean {
  const { exit } = readEndRecord(files.record);
  return typeof exit === "object" || unseen !== undefined || !isSameProcess(shimPid, shimStart);
}

async function endAbandoned(scope: ProcessScope, abandoned: readonly AbandonedShell[]): Promise<void> {
  // Continue stopped shims: a stopped shim would never exit, even if its command is gone.
  for (const { shell } of abandoned) continueShim(shell);
  const found = await scope.processesOf(abandoned.map(({ shell }) => shell));
  const alive = abandoned.filter(({ shell }) => (found.get(shell)?.length ?? 0) > 0);
  if (alive.length === 0) return;
  for (const { shell, neverStarted } of alive) {
    const { record } = shell.files;
    // A broken record must not prevent the kill.
    attempt(() => {
      if (readEndRecord(record).exit === "pending")
        writeCause(record, { kind: neverStarted ? "never-started" : "host-ended", detail: "" });
    });
  }
  // No grace period: their host process is dead.
  const targets = alive.map(({ shell }) => ({ started: shell, ended: Promise.resolve() }));
  await endShells(scope, targets, 0);
}
