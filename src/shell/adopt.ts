// What a new host does about the shells of hosts that are dead: takes over those that were meant to live on,
// and ends what was not.
import type { Host, StartedShell } from "../hosts/host.ts";
import { readEndRecord, writeCause } from "../spool/end-record.ts";
import type { SpoolRoot } from "../spool/layout.ts";
import { type Lease, readLease, takeOver } from "../spool/lease.ts";
import { monotonicMs } from "../support/clock.ts";
import { ADOPT_CHUNK_COUNT, ADOPT_MAX_MS, ADOPT_UNCLEAR_MAX_MS } from "../support/limits.ts";
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
  const orphans: Orphan[] = [];
  const ids = root.list();
  let looked = 0;
  for (; looked < ids.length && monotonicMs() < deadline; looked++) {
    if (looked % ADOPT_CHUNK_COUNT === ADOPT_CHUNK_COUNT - 1)
      await new Promise((resolve) => setImmediate(resolve));
    // A record that cannot be read costs only itself.
    const shell = host.attach(ids[looked] ?? "");
    const lease = shell && leaseOf(shell);
    if (!shell || !lease || !isOrphaned(shell, lease, host)) continue;
    const neverStarted = await isWaiting(shell, host);
    const over = neverStarted || isOver(shell, host);
    if (shell.meta.durable && !lease.over && takeOver(shell.files, lease, host.identity, over)) {
      adopted.push(shell);
    }
    if (shell.unseen === undefined && (over || !shell.meta.durable)) orphans.push({ shell, neverStarted });
  }
  await endOrphans(host, orphans);
  host.tidyUp();
  return { adopted, complete: looked === ids.length };
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
function isOrphaned({ origin }: StartedShell, { holder }: Lease, host: Host): boolean {
  if (origin === "another namespace") return false;
  return origin === "another boot" || !holder || !host.isAlive(holder.pid, holder.startTime);
}

/** A shell that got no job from its host will get none any more. */
async function isWaiting(shell: StartedShell, host: Host): Promise<boolean> {
  if (shell.unseen !== undefined) return false;
  const deadline = monotonicMs() + ADOPT_UNCLEAR_MAX_MS;
  for (;;) {
    const progress = host.progressOf(shell);
    if (progress !== "unclear" || monotonicMs() > deadline) return progress === "waiting";
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Ended, or gone without a word: whatever still runs of it is too much. */
function isOver({ files, unseen, shimPid, shimStart }: StartedShell, host: Host): boolean {
  const { exit } = readEndRecord(files.record);
  return typeof exit === "object" || unseen !== undefined || !host.isAlive(shimPid, shimStart);
}

async function endOrphans(host: Host, orphans: readonly Orphan[]): Promise<void> {
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
