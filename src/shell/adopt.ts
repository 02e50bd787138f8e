// What a new host does about the shells of hosts that are dead: takes over those that were meant to live on,
// and ends what was not.

import { readEndRecord, writeCause } from "../engine/end-record.ts";
import type { Host, StartedShell } from "../engine/host.ts";
import type { SpoolRoot } from "../engine/layout.ts";
import { type Holder, type Lease, readLease, takeOver } from "../engine/lease.ts";
import { monotonicMs } from "../support/clock.ts";
import { ADOPT_CHUNK_COUNT, ADOPT_MAX_MS, ADOPT_UNCLEAR_MAX_MS } from "../support/limits.ts";
import { sleep, yieldTurn } from "../support/timing.ts";
import { endShells } from "./kill.ts";

export interface Adoption {
  /** Durable shells that are ours to answer for from now on, running or ended. */
  readonly adopted: readonly StartedShell[];
  /** Whether there was time to look at all of them; the others are found when they are asked for. */
  readonly complete: boolean;
}

interface Orphan {
  readonly shell: StartedShell;
  /** Its host died before it could send the job. */
  readonly neverStarted: boolean;
}

export async function adoptShells(host: Host, root: SpoolRoot): Promise<Adoption> {
  const deadline = monotonicMs() + ADOPT_MAX_MS;
  const adopted: StartedShell[] = [];
  const ended: { readonly shell: StartedShell; readonly lease: Lease }[] = [];
  const orphans: Orphan[] = [];
  const isAlive = rememberingHolders(host);
  const lookAt = async (id: string): Promise<void> => {
    // A record that cannot be read costs only itself.
    const shell = host.attach(id);
    const lease = shell && leaseOf(shell);
    if (!shell || !lease || !isOrphaned(shell, lease, isAlive)) return;
    const ran = isOver(shell, host);
    const neverStarted = !ran && (await isWaiting(shell, host));
    const over = ran || neverStarted;
    if (shell.unseen === undefined && (over || !shell.meta.durable)) orphans.push({ shell, neverStarted });
    if (!shell.meta.durable || lease.over) return;
    if (over) ended.push({ shell, lease });
    else if (takeOver(shell.files, lease, host.identity, false)) adopted.push(shell);
  };
  let complete = await forEachUntil(deadline, root.list(), lookAt);
  await endOrphans(host, orphans);
  // Last: on a slow disk there may be no time for all, and these need nobody.
  complete &&= await forEachUntil(deadline, ended, async ({ shell, lease }) => {
    if (takeOver(shell.files, lease, host.identity, true)) adopted.push(shell);
  });
  host.tidyUp();
  return { adopted, complete };
}

/** Others get to run in between. Returns whether there was time for all. */
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

/** undefined where it is being removed. */
function leaseOf({ files, meta }: StartedShell): Lease | undefined {
  try {
    return readLease(files, meta);
  } catch {
    return undefined;
  }
}

/** Whoever cannot be seen from here may well be alive; nobody is, of another boot. */
function isOrphaned(
  { origin }: StartedShell,
  { holder }: Lease,
  isAlive: (holder: Holder) => boolean,
): boolean {
  if (origin === "another namespace") return false;
  return origin === "another boot" || !holder || !isAlive(holder);
}

/** Thousands of shells may have the same one. */
function rememberingHolders(host: Host): (holder: Holder) => boolean {
  const known = new Map<string, boolean>();
  return ({ pid, startTime }) => {
    const key = `${pid} ${startTime}`;
    const alive = known.get(key) ?? host.isAlive(pid, startTime);
    known.set(key, alive);
    return alive;
  };
}

/** A shell that got no job from its host will get none any more. */
async function isWaiting(shell: StartedShell, host: Host): Promise<boolean> {
  if (shell.unseen !== undefined) return false;
  const deadline = monotonicMs() + ADOPT_UNCLEAR_MAX_MS;
  for (;;) {
    const progress = host.progressOf(shell);
    if (progress !== "unclear" || monotonicMs() > deadline) return progress === "waiting";
    await sleep(2);
  }
}

/** Ended, or gone without a word: whatever still runs of it is too much. */
function isOver({ files, unseen, shimPid, shimStart }: StartedShell, host: Host): boolean {
  const { exit } = readEndRecord(files.record);
  return typeof exit === "object" || unseen !== undefined || !host.isAlive(shimPid, shimStart);
}

async function endOrphans(host: Host, orphans: readonly Orphan[]): Promise<void> {
  // A stopped shim has nothing left to watch over, and would stay for ever.
  for (const { shell } of orphans) host.signal({ pid: shell.shimPid, startTime: shell.shimStart }, "SIGCONT");
  const found = await host.processesOf(orphans.map(({ shell }) => shell));
  const alive = orphans.filter(({ shell }) => (found.get(shell)?.length ?? 0) > 0);
  if (alive.length === 0) return;
  for (const { shell, neverStarted } of alive) {
    try {
      if (readEndRecord(shell.files.record).exit === "pending") {
        writeCause(shell.files.record, { kind: neverStarted ? "never-started" : "host-ended", detail: "" });
      }
    } catch {
      // Its record is broken; that must not keep it alive.
    }
  }
  // Nobody is left to be asked nicely for: their host is dead.
  await endShells(
    host,
    alive.map(({ shell }) => ({ started: shell, ended: Promise.resolve() })),
    0,
  );
}
