// What a shell that has ended left running.

import { KILL_VERIFY_MAX_MS, LEFTOVER_LOOKS_COUNT } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { findProcesses } from "./find-processes.ts";
import { pidsSince } from "./pids-since.ts";
import { isEnding, isSameProcess, lastPid, type ProcessRef } from "./process-table.ts";
import type { StartedShell } from "./started-shell.ts";

export async function findLeftovers(shell: StartedShell): Promise<ProcessRef[]> {
  let left = await look(shell);
  for (let pauseMs = 1; left.length > 0 && isDoomed(shell) && pauseMs < KILL_VERIFY_MAX_MS; pauseMs *= 2) {
    await sleep(pauseMs);
    left = await look(shell);
  }
  return left;
}

/**
 * Cheap where it forked nothing. Looks again where a process may have forked and exited before the look came to it, in
 * which case the look has missed the child. What was killed is not left running, though the kernel may not have got
 * to it.
 */
async function look(shell: StartedShell): Promise<ProcessRef[]> {
  for (let looks = 1; ; looks++) {
    const before = lastPid();
    const candidates = pidsSince(shell.pidsBefore);
    if (candidates.length === 0) return [];
    const found = (await findProcesses([shell], candidates)).get(shell) ?? [];
    const left = found.filter(({ pid }) => !isEnding(pid));
    if (left.length > 0 || lastPid() === before || looks === LEFTOVER_LOOKS_COUNT) return left;
  }
}

/** The end of bwrap is the end of all that is inside; the kernel takes a moment to get to each. */
function isDoomed({ sandbox }: StartedShell): boolean {
  return sandbox !== undefined && !isSameProcess(sandbox.pid, sandbox.startTime);
}
