// The processes that may have started since a given moment. The kernel assigns PIDs in order and reports the last one,
// so only PIDs between two readings can be new. After the largest PID, the kernel starts again with the smallest.
// Frequent readings detect each such wrap-around, and a mark contains the number of wraps so far. While an engine has
// shells, a timer takes these readings. After a gap between readings, a PID from before the gap proves nothing: then
// every process counts as new.
import { existsSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import {
  FORKS_PER_MS_MAX_COUNT,
  PID_PROBES_PER_ENTRY_COUNT,
  PID_READINGS_PER_WRAP_COUNT,
} from "../support/limits.ts";
import { lastPid, pidMax, threadCount } from "./last-pid.ts";
import { allPids, isProcess } from "./process-table.ts";

/** A moment, with the last PID assigned. */
export interface PidMark {
  readonly last: number;
  readonly atMs: number;
  /** The number of wraps so far. undefined for a mark that is not a reading, such as NO_PIDS. */
  readonly wraps?: number;
  /** Marks of different series are not comparable: readings were missing between them. */
  readonly series?: number;
}

/** A mark before every process. */
export const NO_PIDS: PidMark = { last: 0, atMs: Number.NEGATIVE_INFINITY };

let latest: Required<PidMark> = { last: 0, atMs: Number.NEGATIVE_INFINITY, wraps: 0, series: 0 };

/** The minimum time that the kernel needs to assign every PID once. */
const wrapMs = () => pidMax() / FORKS_PER_MS_MAX_COUNT;

export function markPids(): PidMark {
  const last = lastPid();
  const atMs = monotonicMs();
  const { wraps, series } = latest;
  if (last === 0 || atMs - latest.atMs > wrapMs()) latest = { last, atMs, wraps: 0, series: series + 1 };
  else latest = { last, atMs, wraps: last < latest.last ? wraps + 1 : wraps, series };
  return latest;
}

/** Takes readings often enough to notice every wrap, until the returned function is called. */
export function watchPids(): () => void {
  markPids();
  // Ignore a failed reading: a reading can fail if the system is out of memory, and an error in a timer would end the
  // program. After a missed wrap, the next mark begins a new series.
  const timer = setInterval(() => attempt(markPids), wrapMs() / PID_READINGS_PER_WRAP_COUNT);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whether no process has started since the mark. Cheap, and true for most commands. */
export function isNoneSince(mark: PidMark): boolean {
  const now = markPids();
  return mark.last > 0 && now.last === mark.last && wrapsSince(mark, now) === 0;
}

/** The PIDs of processes (not threads) that may have started since the mark. */
export function pidsSince(mark: PidMark): number[] {
  const now = markPids();
  const isNew = newerThan(mark, now);
  if (!isNew) return allPids();
  const { last: before } = mark;
  const count = now.last - before;
  // Probing one PID costs about twice as much as reading one entry of the listing of /proc.
  if (count < 0 || count * PID_PROBES_PER_ENTRY_COUNT > threadCount()) return allPids().filter(isNew);
  const pids: number[] = [];
  for (let pid = before + 1; pid <= now.last; pid++)
    // Check isProcess: threads have PIDs too, and /proc has a directory for each thread that its listing does not
    // show.
    if (existsSync(`/proc/${pid}`) && isProcess(pid)) pids.push(pid);
  return pids;
}

/** Returns undefined if PIDs do not show which processes are new. */
function newerThan(mark: PidMark, now: PidMark): ((pid: number) => boolean) | undefined {
  const wraps = wrapsSince(mark, now);
  const { last: before } = mark;
  if (before > 0 && wraps === 0 && now.last >= before) return (pid) => pid > before && pid <= now.last;
  if (before > 0 && wraps === 1 && now.last < before) return (pid) => pid > before || pid <= now.last;
  return undefined;
}

/** The number of wraps between the two marks; undefined if unknown. */
function wrapsSince(mark: PidMark, now: PidMark): number | undefined {
  if (mark.wraps !== undefined && mark.series === now.series) return (now.wraps ?? 0) - mark.wraps;
  if (now.atMs - mark.atMs > wrapMs()) return undefined;
  return now.last < mark.last ? 1 : 0;
}
