// Proves that a scan of /proc which found nothing of a shell has missed nothing. It can miss a chain in which each process
// forks one child and exits: when the scan gets to a process, that has exited, and its child came after the scan began.
// Such a child has one of the pids that were given out since then. If there are none, the proof is complete; if there
// are, each is inspected, and then the newest process for a while.
import type { ProcessScope } from "../engine/process-scope.ts";
import { lastPid } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { FORK_CHECK_MAX_MS, NEW_PROCESS_QUIET_MS } from "../support/limits.ts";

/**
 * `pidBefore`: the last pid that was given out before the scan. Kills what it finds: the caller is about to do so, and
 * the process cannot be found again.
 */
export async function isNothingLeft(
  scope: ProcessScope,
  shells: readonly StartedShell[],
  pidBefore: number,
): Promise<boolean> {
  if (lastPid() === pidBefore) return true;
  let isStruck = false;
  const plan = {
    firstMs: NEW_PROCESS_QUIET_MS,
    maxMs: FORK_CHECK_MAX_MS,
    signal: "SIGKILL",
    sincePid: pidBefore,
  } as const;
  await scope.signalNewProcesses(shells, plan, () => {
    isStruck = true;
  });
  return !isStruck;
}
