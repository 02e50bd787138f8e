// What a shell that has ended left running.
import { KILL_VERIFY_MAX_MS } from "../support/limits.ts";
import { findProcesses } from "./find-processes.ts";
import type { ProcessRef, StartedShell } from "./host.ts";
import { pidsSince } from "./pids-since.ts";
import { isEnding, isSameProcess } from "./process-table.ts";

export async function findLeftovers(shell: StartedShell): Promise<ProcessRef[]> {
  let left = await look(shell);
  for (let pauseMs = 1; left.length > 0 && isDoomed(shell) && pauseMs < KILL_VERIFY_MAX_MS; pauseMs *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    left = await look(shell);
  }
  return left;
}

/** Cheap where it forked nothing. What was killed is not left running, though the kernel may not have got to it. */
async function look(shell: StartedShell): Promise<ProcessRef[]> {
  const candidates = pidsSince(shell.pidsBefore);
  if (candidates.length === 0) return [];
  const found = (await findProcesses([shell], candidates)).get(shell) ?? [];
  return found.filter(({ pid }) => !isEnding(pid));
}

/** The end of bwrap is the end of all that is inside; the kernel takes a moment to get to each. */
function isDoomed({ sandbox }: StartedShell): boolean {
  return sandbox !== undefined && !isSameProcess(sandbox.pid, sandbox.startTime);
}
