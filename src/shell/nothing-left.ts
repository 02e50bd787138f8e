// After a scan of /proc has found no process of a shell, proves that there is none. The scan can have missed a chain in
// which each process forks one child and exits: a process is gone when the scan reaches it, and its child appeared
// after the scan began. If the kernel has assigned no PID since then, there is no such child, and the proof is
// complete. Otherwise nacre checks each new PID, and then watches the newest process for a while.

import { lastPid } from "../engine/last-pid.ts";
import type { ProcessScope } from "../engine/process-scope.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { FORK_CHECK_MAX_MS, NEW_PROCESS_QUIET_MS } from "../support/limits.ts";

/**
 * `pidBefore`: the last PID assigned before the scan. Kills the processes that it finds: the caller is about to kill
 * them anyway, and could not find them again.
 */
export async function isNothingLeft(
  scope: ProcessScope,
  shells: readonly StartedShell[],
  pidBefore: number,
): Promise<boolean> {
  if (lastPid() === pidBefore) return true;
  let hasSignalled = false;
  const plan = {
    firstMs: NEW_PROCESS_QUIET_MS,
    maxMs: FORK_CHECK_MAX_MS,
    signal: "SIGKILL",
    sincePid: pidBefore,
  } as const;
  await scope.signalNewProcesses(shells, plan, () => {
    hasSignalled = true;
  });
  return !hasSignalled;
}
