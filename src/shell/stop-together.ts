// Stops all processes of a shell, so that nacre can signal each of them before any of them continues. If nacre signaled
// them one by one, a parent could see its child die and run its next command before its own signal arrives:
// `(sleep 60; deploy) &` would deploy.
import type { ProcessScope } from "../engine/process-scope.ts";
import { type ProcessRef, processKey, readStat } from "../engine/process-table.ts";
import { signalProcess } from "../engine/signals.ts";
import { keepsSandbox, type StartedShell } from "../engine/started-shell.ts";
import { monotonicMs } from "../support/clock.ts";
import { STOP_TOGETHER_MAX_MS } from "../support/limits.ts";

export interface StoppedProcess {
  readonly process: ProcessRef;
  readonly parent: number;
}

export interface StoppedTogether {
  /** Parents before their children. */
  readonly stopped: readonly StoppedProcess[];
  /** False if processes appeared faster than nacre could stop them: the last scan still found new ones. */
  readonly isComplete: boolean;
}

/** Scans and stops until a scan finds nothing new and everything found has stopped, or the time is over. */
export async function stopTogether(scope: ProcessScope, shell: StartedShell): Promise<StoppedTogether> {
  const deadline = monotonicMs() + STOP_TOGETHER_MAX_MS;
  const known = new Map<string, StoppedProcess>();
  const denied = new Set<string>();
  for (;;) {
    const found = (await scope.processesOf([shell])).get(shell) ?? [];
    const fresh = parentsFirst(
      found
        // Leave bwrap running: when bwrap ends, the kernel kills everything in the sandbox at once. bwrap ends by
        // itself after the processes in the sandbox.
        .filter((process) => !keepsSandbox(process.pid, shell) && !known.has(processKey(process)))
        .map((process) => ({ process, parent: readStat(process.pid)?.parent ?? 0 })),
    );
    // Stop parents first: a parent with job control would notice that its child has stopped, and run its next command.
    for (const target of fresh) {
      known.set(processKey(target.process), target);
      if (signalProcess(target.process, "SIGSTOP") === "denied") denied.add(processKey(target.process));
    }
    const isComplete = fresh.length === 0;
    const haveStopped = [...known].every(([key, { process }]) => denied.has(key) || hasStopped(process.pid));
    // On a busy machine, a process may not have stopped by the deadline, because it waits for a processor. It will stop
    // before it runs its program, so only new processes make the result incomplete.
    if ((isComplete && haveStopped) || monotonicMs() >= deadline)
      return { stopped: parentsFirst([...known.values()].filter(isStillListed)), isComplete };
  }
}

/**
 * False if the parent has reaped the process since the scan. The parent then does not wait for this process any more.
 */
function isStillListed({ process: { pid, startTime } }: StoppedProcess): boolean {
  return readStat(pid)?.startTime === startTime;
}

/**
 * True if the process is stopped, has ended or is in the kernel: it then handles pending signals before it runs its
 * program.
 */
function hasStopped(pid: number): boolean {
  const stat = readStat(pid);
  return stat === undefined || stat.hasEnded || "TtDX".includes(stat.state);
}

function parentsFirst(targets: readonly StoppedProcess[]): StoppedProcess[] {
  const byPid = new Map(targets.map((target) => [target.process.pid, target]));
  const depths = new Map<number, number>();
  const depthOf = (pid: number): number => {
    const known = depths.get(pid);
    if (known !== undefined) return known;
    // Set this before the parent's depth is known: a reused PID could create a cycle.
    depths.set(pid, 0);
    const target = byPid.get(pid);
    const depth = target === undefined ? 0 : depthOf(target.parent) + 1;
    depths.set(pid, depth);
    return depth;
  };
  return [...targets].sort((a, b) => depthOf(a.process.pid) - depthOf(b.process.pid));
}
