// Sends a signal to everything shells have running as if in one moment: stops every process, queues the signal for
// each, then continues them. Signaled one by one, a parent sees its child die and goes on with its next step before
// its own signal arrives: `(sleep 60; deploy) &` would deploy.
import type { Host, ProcessRef, SignalResult, StartedShell } from "../engine/host.ts";
import { readStat } from "../engine/process-table.ts";
import { monotonicMs } from "../support/clock.ts";
import { STOP_TOGETHER_MAX_MS } from "../support/limits.ts";

export interface StoppedProcess {
  readonly shell: StartedShell;
  readonly process: ProcessRef;
  readonly parent: number;
}

export interface StoppedTogether {
  /** Everything that was found, parents before their children. */
  readonly stopped: readonly StoppedProcess[];
  /** False if processes appeared faster than they could be stopped: the last look still found new ones. */
  readonly isComplete: boolean;
}

export type Send = (target: StoppedProcess, signal: NodeJS.Signals) => SignalResult;

export type TogetherHost = Pick<Host, "processesOf" | "signal">;

export interface TogetherOptions {
  /** How long to look for processes that are not stopped yet. @default STOP_TOGETHER_MAX_MS */
  readonly maxMs?: number;
  /** Sends one signal. @default through the host */
  readonly send?: Send;
}

/** Stops, queues, continues. `signalFor` is called while everything is stopped; undefined sends nothing. @public */
export async function signalTogether(
  host: TogetherHost,
  shells: readonly StartedShell[],
  signalFor: (target: StoppedProcess) => NodeJS.Signals | undefined,
  options: TogetherOptions = {},
): Promise<StoppedTogether> {
  const send = options.send ?? sendThrough(host);
  const result = await stopTogether(host, shells, { ...options, send });
  for (const target of result.stopped) {
    const signal = signalFor(target);
    if (signal !== undefined) send(target, signal);
  }
  continueTogether(result.stopped, send);
  return result;
}

/** Looks and stops until a look finds nothing new and everything known has stopped, or the time is over. */
export async function stopTogether(
  host: TogetherHost,
  shells: readonly StartedShell[],
  { maxMs = STOP_TOGETHER_MAX_MS, send = sendThrough(host) }: TogetherOptions = {},
): Promise<StoppedTogether> {
  const deadline = monotonicMs() + maxMs;
  const known = new Map<string, StoppedProcess>();
  const denied = new Set<string>();
  for (;;) {
    const found = await host.processesOf(shells);
    const fresh = parentsFirst(
      [...found].flatMap(([shell, processes]) =>
        processes
          // The end of bwrap is the end of everything inside, at once: it follows what it contains.
          .filter((process) => process.pid !== shell.sandbox?.pid && !known.has(keyOf(process)))
          .map((process) => ({ shell, process, parent: readStat(process.pid)?.parent ?? 0 })),
      ),
    );
    // Parents first: a parent with job control would hear that its child has stopped, and go on.
    for (const target of fresh) {
      known.set(keyOf(target.process), target);
      if (send(target, "SIGSTOP") === "denied") denied.add(keyOf(target.process));
    }
    const isComplete =
      fresh.length === 0 &&
      [...known].every(([key, { process }]) => denied.has(key) || hasStopped(process.pid));
    if (isComplete || monotonicMs() >= deadline)
      return { stopped: parentsFirst([...known.values()]), isComplete };
  }
}

/** Children first: by the time a parent runs, no child of it is stopped any more. */
export function continueTogether(stopped: readonly StoppedProcess[], send: Send): void {
  for (const target of stopped.toReversed()) send(target, "SIGCONT");
}

export function sendThrough(host: Pick<Host, "signal">): Send {
  return ({ process }, signal) => host.signal(process, signal);
}

/** A pid alone does not name a process for long. */
export function keyOf({ pid, startTime }: Pick<ProcessRef, "pid" | "startTime">): string {
  return `${pid}/${startTime}`;
}

/** Runs no line of its program before it takes the signals that wait for it: stopped, ended, or held by the kernel. */
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
    // Before the parent's own is known: a pid that was reused meanwhile could close a circle.
    depths.set(pid, 0);
    const target = byPid.get(pid);
    const depth = target === undefined ? 0 : depthOf(target.parent) + 1;
    depths.set(pid, depth);
    return depth;
  };
  return [...targets].sort((a, b) => depthOf(a.process.pid) - depthOf(b.process.pid));
}
