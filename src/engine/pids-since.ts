// Which processes may have been started since a moment, told by the pids that were given out: far fewer to look at
// than there are.
import { monotonicMs } from "../support/clock.ts";
import { FEW_PIDS_COUNT, FORKS_PER_MS_MAX_COUNT } from "../support/limits.ts";
import { allPids, isProcess, lastPid, pidMax } from "./process-table.ts";

/** A moment, by the pid given out last. */
export interface PidMark {
  readonly last: number;
  readonly atMs: number;
}

/** Before everything. */
export const NO_PIDS: PidMark = { last: 0, atMs: Number.NEGATIVE_INFINITY };

export function markPids(): PidMark {
  return { last: lastPid(), atMs: monotonicMs() };
}

/** Quick to tell, and mostly the case. */
export function isNoneSince(mark: PidMark): boolean {
  return mark.last > 0 && lastPid() === mark.last && !mayHaveWrapped(mark);
}

export function pidsSince(mark: PidMark): number[] {
  if (isNoneSince(mark)) return [];
  const { last: before } = mark;
  const last = lastPid();
  // Pids are given out in order: only the new ones count. A smaller one means that they wrapped.
  if (last <= before || mayHaveWrapped(mark)) return allPids();
  if (last - before > FEW_PIDS_COUNT) return allPids().filter((pid) => pid > before && pid <= last);
  const pids = Array.from({ length: last - before }, (_, index) => before + 1 + index);
  // Threads have numbers of the same kind, and a directory that no listing shows.
  return pids.filter(isProcess);
}

/** So long ago that all pids may have been given out meanwhile, and which are new cannot be told from them. */
function mayHaveWrapped({ atMs }: PidMark): boolean {
  return (monotonicMs() - atMs) * FORKS_PER_MS_MAX_COUNT > pidMax();
}
