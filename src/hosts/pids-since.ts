// Which processes may have been started since a moment, told by the pids that were given out: far fewer to look at
// than there are.
import { FEW_PIDS_COUNT } from "../support/limits.ts";
import { allPids, isProcess, lastPid } from "./process-table.ts";

/** `before`: the pid given out last at that moment. */
export function pidsSince(before: number): number[] {
  const last = lastPid();
  if (last === before && last > 0) return [];
  // Pids are given out in order: only the new ones count. A smaller one means that they wrapped.
  if (last <= before) return allPids();
  if (last - before > FEW_PIDS_COUNT) return allPids().filter((pid) => pid > before && pid <= last);
  const pids = Array.from({ length: last - before }, (_, index) => before + 1 + index);
  // Threads have numbers of the same kind, and a directory that no listing shows.
  return pids.filter(isProcess);
}
