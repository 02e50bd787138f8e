// The processes that an ended shell left running.

import { KILL_VERIFY_MAX_MS, LEFTOVER_SCANS_COUNT } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { findProcesses } from "./find-processes.ts";
import { lastPid } from "./last-pid.ts";
import { pidsSince } from "./pids-since.ts";
import { isEnding, isSameProcess, type ProcessRef } from "./process-table.ts";
import type { StartedShell } from "./started-shell.ts";

export async function findLeftovers(shell: StartedShell): Promise<ProcessRef[]> {
  let left = await scan(shell);
  for (let pauseMs = 1; left.length > 0 && isDoomed(shell) && pauseMs < KILL_VERIFY_MAX_MS; pauseMs *= 2) {
    await sleep(pauseMs);
    left = await scan(shell);
  }
  return left;
}

/**
 * Cheap if the shell forked nothing. Repeats the scan if the kernel assigned PIDs in the meantime: a process may have
 * forked and exited before the scan reached it, and the scan then missed its child. Killed processes do not count as
 * leftovers, even before the kernel reaps them.
 */
async function scan(shell: StartedShell): Promise<ProcessRef[]> {
  for (let scans = 1; ; scans++) {
    const before = lastPid();
    const candidates = pidsSince(shell.pidsBefore);
    if (candidates.length === 0) return [];
    const found = (await findProcesses([shell], candidates)).get(shell) ?? [];
    const left = found.filter(({ pid }) => !isEnding(pid));
    if (left.length > 0 || lastPid() === before || scans === LEFTOVER_SCANS_COUNT) return left;
  }
}

/** Whether bwrap has ended: the kernel then kills every process in its sandbox, which takes a moment. */
function isDoomed({ sandbox }: StartedShell): boolean {
  return sandbox !== undefined && !isSameProcess(sandbox.pid, sandbox.startTime);
}
