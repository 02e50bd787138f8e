// What a new host does about the shells of hosts that are dead: takes over those that were meant to live on,
// and ends what was not.
import type { Host, StartedShell } from "../hosts/host.ts";
import { readEndRecord, writeCause } from "../spool/end-record.ts";
import type { SpoolRoot } from "../spool/layout.ts";
import { type Holder, holderOf, takeOver } from "../spool/lease.ts";
import { monotonicMs } from "../support/clock.ts";
import { ADOPT_MAX_MS } from "../support/limits.ts";
import { endShells } from "./kill.ts";

export interface Adoption {
  /** Durable shells that are ours to answer for from now on, running or ended. */
  readonly adopted: readonly StartedShell[];
  /** Whether there was time to look at all of them; the others are found when they are asked for. */
  readonly complete: boolean;
}

export async function adoptShells(host: Host, root: SpoolRoot): Promise<Adoption> {
  const deadline = monotonicMs() + ADOPT_MAX_MS;
  const isAlive = ({ pid, startTime }: Holder) => host.isAlive(pid, startTime);
  const adopted: StartedShell[] = [];
  const orphans: StartedShell[] = [];
  const ids = root.list();
  let looked = 0;
  for (; looked < ids.length && monotonicMs() < deadline; looked++) {
    const shell = host.attach(ids[looked] ?? "");
    // A record that cannot be read costs only itself.
    if (!shell || !isOrphaned(shell, isAlive)) continue;
    if (shell.meta.durable && takeOver(shell.files, shell.meta, host.identity, isAlive)) adopted.push(shell);
    if (shell.unseen === undefined && shouldBeDead(shell, host)) orphans.push(shell);
    if (looked % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  await endOrphans(host, orphans);
  return { adopted, complete: looked === ids.length };
}

function isOrphaned(shell: StartedShell, isAlive: (holder: Holder) => boolean): boolean {
  try {
    return !isAlive(holderOf(shell.files, shell.meta));
  } catch {
    return false;
  }
}

/** Ended, or not meant to outlive its host, or gone without a word: whatever still runs of it is too much. */
function shouldBeDead(shell: StartedShell, host: Host): boolean {
  if (!shell.meta.durable) return true;
  const { exit } = readEndRecord(shell.files.record);
  return typeof exit === "object" || !host.isAlive(shell.shimPid, shell.shimStart);
}

async function endOrphans(host: Host, orphans: readonly StartedShell[]): Promise<void> {
  const found = await host.processesOf(orphans);
  const alive = orphans.filter((shell) => (found.get(shell)?.length ?? 0) > 0);
  if (alive.length === 0) return;
  for (const shell of alive) {
    try {
      if (readEndRecord(shell.files.record).exit === "pending") {
        writeCause(shell.files.record, { kind: "host-ended", detail: "" });
      }
    } catch {
      // Its record is broken; that must not keep it alive.
    }
  }
  // Nobody is left to be asked nicely for: their host is dead.
  await endShells(
    host,
    alive.map((started) => ({ started, ended: Promise.resolve() })),
    0,
  );
}
