// Proves that shells have nothing running any more. A scan of /proc can miss a chain in which each process forks one
// child and exits: it has passed the place where the next one appears. A scan during which the kernel has given out no
// pid misses nothing. On a busy machine other programs fork all the time; there, several scans must find nothing, and
// so must a look at the newest processes after each of them.
import type { KillHost, StartedShell } from "../engine/host.ts";
import { lastPid } from "../engine/process-table.ts";
import { HUNT_MAX_MS, HUNT_QUIET_MS, PROOF_SCANS_COUNT } from "../support/limits.ts";

/** Kills what forks meanwhile: it is about to be killed in any case, and cannot be found again. */
export async function isNothingLeft(host: KillHost, shells: readonly StartedShell[]): Promise<boolean> {
  for (let scans = 0; scans < PROOF_SCANS_COUNT; scans++) {
    const before = lastPid();
    const found = await host.processesOf(shells);
    if ([...found.values()].some((processes) => processes.length > 0)) return false;
    if (lastPid() === before) return true;
    if (await isForking(host, shells)) return false;
  }
  return true;
}

async function isForking(host: KillHost, shells: readonly StartedShell[]): Promise<boolean> {
  let isStruck = false;
  const plan = { firstMs: HUNT_QUIET_MS, maxMs: HUNT_MAX_MS, signal: "SIGKILL" } as const;
  await host.hunt(shells, plan, () => {
    isStruck = true;
  });
  return isStruck;
}
