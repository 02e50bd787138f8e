// The processes that may have started since a given moment. Finds them by the PIDs that the kernel assigned since then,
// which are far fewer than all processes.
import { monotonicMs } from "../support/clock.ts";
import { FEW_PIDS_COUNT, FORKS_PER_MS_MAX_COUNT } from "../support/limits.ts";
import { allPids, isProcess, lastPid, pidMax } from "./process-table.ts";

/** A moment, with the last PID assigned. */
export interface PidMark {
  readonly last: number;
  readonly atMs: number;
}

/** A mark before every process. */
export const NO_PIDS: PidMark = { last: 0, atMs: Number.NEGATIVE_INFINITY };

export function markPids(): PidMark {
  return { last: lastPid(), atMs: monotonicMs() };
}

/** Whether no process has started since the mark. Cheap, and true for most commands. */
export function isNoneSince(mark: PidMark): boolean {
  return mark.last > 0 && lastPid() === mark.last && !mayHaveWrapped(mark);
}

export function pidsSince(mark: PidMark): number[] {
  if (isNoneSince(mark)) return [];
  const { last: before } = mark;
  const last = lastPid();
  // The kernel assigns PIDs in order. A smaller one means that they have wrapped around.
  if (last <= before || mayHaveWrapped(mark)) return allPids();
  if (last - before > FEW_PIDS_COUNT) return allPids().filter((pid) => pid > before && pid <= last);
  const pids = Array.from({ length: last - before }, (_, index) => before + 1 + index);
  // Filter out threads: they also have PIDs, and directories in /proc that a listing does not show.
  return pids.filter(isProcess);
}

/** Whether the kernel may have assigned every PID since the mark: PIDs then do not show which processes are new. */
function mayHaveWrapped({ atMs }: PidMark): boolean {
  return (monotonicMs() - atMs) * FORKS_PER_MS_MAX_COUNT > pidMax();
}
