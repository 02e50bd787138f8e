// Finds and signals processes that no scan of /proc can catch: a chain in which each process forks one child and exits.
// Each process of the chain lives 50 to 100 microseconds, and a scan takes milliseconds. But the kernel assigns PIDs
// in order and reports the latest in /proc/loadavg: checking that one PID takes 20 microseconds. A fork fails while a
// SIGKILL is pending for the parent, so one SIGKILL in time ends the chain. A SIGSTOP during the fork is too late.

import { monotonicMs } from "../support/clock.ts";
import {
  NEW_PROCESS_BURST_MS,
  NEW_PROCESS_QUIET_MS,
  NEWEST_CHECKS_COUNT,
  NEWEST_PIDS_COUNT,
} from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import { lastPid } from "./last-pid.ts";
import { commandLine, isThread, type ProcessRef, readStat } from "./process-table.ts";
import { type SignalResult, sendSignal } from "./signals.ts";
import type { StartedShell } from "./started-shell.ts";

type OwnerOf = (pid: number) => StartedShell | undefined;

export interface SignalNewPlan {
  /** How long to wait for the first process to appear. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Sent to each process when it appears. */
  readonly signal: "SIGSTOP" | "SIGKILL";
  /** Processes with a later PID count as new, even if they exist now. @default the last PID assigned */
  readonly sincePid?: number;
}

export type OnSignalled = (shell: StartedShell, process: ProcessRef, result: SignalResult) => void;

/** Checks the newest PIDs a few times. Usually the kernel assigns no PID in between, and then two checks suffice. */
export function sampleNewest<T>(
  ownerOf: (pid: number) => T | undefined,
  onFound: (owner: T, process: ProcessRef) => void,
): void {
  let before = 0;
  for (let checks = 0; checks < NEWEST_CHECKS_COUNT; checks++) {
    const last = lastPid();
    if (last === before && checks > 1) return;
    for (const pid of newestPids(last, before)) {
      const owner = ownerOf(pid);
      if (owner === undefined) continue;
      const stat = readStat(pid);
      if (stat && !stat.hasEnded && !isThread(pid))
        onFound(owner, { pid, startTime: stat.startTime, group: stat.group, command: commandLine(pid) });
    }
    before = last;
  }
}

/**
 * Signals each process of the shells as soon as the kernel assigns its PID. Returns when no process has appeared for a
 * while, or at the deadline. Yields between bursts. Does not signal older processes: if such a process is the child of
 * a shell, the shell would run its next command after the kill.
 */
export async function signalNewest(
  ownerOf: OwnerOf,
  { firstMs, maxMs, signal, sincePid = lastPid() }: SignalNewPlan,
  onSignalled: OnSignalled,
): Promise<void> {
  const deadline = monotonicMs() + maxMs;
  const isOld = (pid: number) => pid <= sincePid && pid > sincePid - NEWEST_PIDS_COUNT;
  for (let pid = lastPid() - NEWEST_PIDS_COUNT; pid > sincePid; pid--)
    signalIfOwned(pid, signal, ownerOf, onSignalled);
  let before = sincePid;
  let quietEnd = Math.min(deadline, monotonicMs() + firstMs);
  while (monotonicMs() < quietEnd) {
    for (const end = monotonicMs() + NEW_PROCESS_BURST_MS; monotonicMs() < Math.min(end, quietEnd); ) {
      const last = lastPid();
      for (const pid of newestPids(last, before)) {
        if (isOld(pid) || !signalIfOwned(pid, signal, ownerOf, onSignalled)) continue;
        quietEnd = Math.min(deadline, monotonicMs() + NEW_PROCESS_QUIET_MS);
      }
      before = last;
    }
    await yieldTurn();
  }
}

/** Returns whether the process belongs to one of the shells, dead or alive: a dead process may have forked. */
function signalIfOwned(
  pid: number,
  signal: NodeJS.Signals,
  ownerOf: OwnerOf,
  onSignalled: OnSignalled,
): boolean {
  const shell = ownerOf(pid);
  if (!shell) return false;
  const stat = readStat(pid);
  if (!stat || stat.hasEnded) return true;
  // Do not check the identity again, because it was read just now, and do not read the command line: both would give
  // the process time to fork.
  const result = sendSignal(pid, signal);
  onSignalled(
    shell,
    { pid, startTime: stat.startTime, group: stat.group, command: `[${stat.name}]` },
    result,
  );
  return true;
}

/**
 * Yields the newest PID first, because older processes have probably exited. Includes the newest PID of the last call:
 * the kernel reports a PID before the process is visible in /proc.
 */
function* newestPids(last: number, before: number): Generator<number, void, void> {
  yield last;
  for (let pid = last - 1; pid > 1 && pid >= before && pid > last - NEWEST_PIDS_COUNT; pid--) yield pid;
}
