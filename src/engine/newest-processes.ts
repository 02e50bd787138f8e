// Finds and hits processes that no scan of /proc can catch: a chain in which each process forks one child and exits.
// A link of it lives for 50 to 100 microseconds, and a scan takes milliseconds. But the kernel gives out pids in order
// and names the latest in /proc/loadavg: looking at that one pid takes 20 microseconds. A fork fails while a SIGKILL is
// pending for the parent, so a hit ends the chain. A SIGSTOP that arrives during the fork is too late for that.

import { monotonicMs } from "../support/clock.ts";
import { HUNT_BURST_MS, HUNT_QUIET_MS, NEWEST_LOOKS_COUNT, NEWEST_PIDS_COUNT } from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import type { HuntPlan, ProcessRef, SignalResult, StartedShell } from "./host.ts";
import { commandLine, isThread, lastPid, readStat } from "./process-table.ts";
import { sendSignal } from "./signals.ts";

type OwnerOf = (pid: number) => StartedShell | undefined;

/** A few looks at the newest pids; the second is the last where none was given out in between, which is nearly always. */
export function sampleNewest(
  ownerOf: OwnerOf,
  onFound: (shell: StartedShell, process: ProcessRef) => void,
): void {
  let before = 0;
  for (let looks = 0; looks < NEWEST_LOOKS_COUNT; looks++) {
    const last = lastPid();
    if (last === before && looks > 1) return;
    for (const pid of newestPids(last, before)) {
      const shell = ownerOf(pid);
      const stat = shell && readStat(pid);
      if (stat && !stat.hasEnded && !isThread(pid))
        onFound(shell, { pid, startTime: stat.startTime, group: stat.group, command: commandLine(pid) });
    }
    before = last;
  }
}

/**
 * Signals each process of the shells that appears, as soon as its pid has been given out. Returns when none has appeared
 * for a while, or the time is over. Between bursts other work of this thread goes on. Processes that were there before
 * are left alone: a shell whose child is killed goes on with its next step.
 */
export async function huntNewest(
  ownerOf: OwnerOf,
  { firstMs, maxMs, signal, sincePid = lastPid() }: HuntPlan,
  onStruck: OnStruck,
): Promise<void> {
  const deadline = monotonicMs() + maxMs;
  const isOld = (pid: number) => pid <= sincePid && pid > sincePid - NEWEST_PIDS_COUNT;
  for (let pid = lastPid() - NEWEST_PIDS_COUNT; pid > sincePid; pid--)
    strikeAt(pid, signal, ownerOf, onStruck);
  let before = sincePid;
  let quietEnd = Math.min(deadline, monotonicMs() + firstMs);
  while (monotonicMs() < quietEnd) {
    for (const end = monotonicMs() + HUNT_BURST_MS; monotonicMs() < Math.min(end, quietEnd); ) {
      const last = lastPid();
      for (const pid of newestPids(last, before)) {
        if (isOld(pid) || !strikeAt(pid, signal, ownerOf, onStruck)) continue;
        quietEnd = Math.min(deadline, monotonicMs() + HUNT_QUIET_MS);
      }
      before = last;
    }
    await yieldTurn();
  }
}

export type OnStruck = (shell: StartedShell, process: ProcessRef, result: SignalResult) => void;

/** Whether it is one of the shells', dead or alive: a dead one may have forked. */
function strikeAt(pid: number, signal: NodeJS.Signals, ownerOf: OwnerOf, onStruck: OnStruck): boolean {
  const shell = ownerOf(pid);
  if (!shell) return false;
  const stat = readStat(pid);
  if (!stat || stat.hasEnded) return true;
  // Its identity was read just now. Checking it once more, or reading its command line, would give it time to fork.
  const result = sendSignal(pid, signal);
  onStruck(shell, { pid, startTime: stat.startTime, group: stat.group, command: `[${stat.name}]` }, result);
  return true;
}

/**
 * Newest first: the older ones have probably exited. The newest one of a moment ago is among them: its pid is given out
 * before the process can be seen.
 */
function* newestPids(last: number, before: number): Generator<number, void, void> {
  yield last;
  for (let pid = last - 1; pid > 1 && pid >= before && pid > last - NEWEST_PIDS_COUNT; pid--) yield pid;
}
