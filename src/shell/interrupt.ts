// Interrupts a command, as Ctrl-C does, with everything it started: INT for all of it at once (signal-together.ts),
// time for traps, then the caller kills the rest.
//
//   interruptCommand -> #round: stop everything, queue a signal for each process, continue all but waiting bashes
//                    -> #release: a bash whose foreground child has ended continues
//                    until nothing is left, or the grace period is over
//
// A background list ignores INT, though its children do not: what ignores INT gets TERM. What ignores both keeps
// running with everything below it until the grace period is over.

import { constants } from "node:os";
import { basename } from "node:path";
import type { KillHost, StartedShell } from "../engine/host.ts";
import {
  childrenOf,
  endingSignal,
  ignoresSignal,
  lastPid,
  programOf,
  readStat,
} from "../engine/process-table.ts";
import { monotonicMs } from "../support/clock.ts";
import { INTERRUPT_ROUND_MS, STOP_TOGETHER_MAX_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { isNothingLeft } from "./nothing-left.ts";
import {
  keyOf,
  type Send,
  type StoppedProcess,
  type StoppedTogether,
  sendThrough,
  stopTogether,
} from "./signal-together.ts";

/** The process runs under another program or ignores other signals than when it was told: it has forgotten. */
interface Told {
  readonly program: string;
  readonly signal: NodeJS.Signals;
}

/** A bash that stays stopped until these children, which may be what it waits for, have ended. */
interface WaitingBash {
  readonly target: StoppedProcess;
  readonly children: readonly StoppedProcess[];
}

export interface InterruptPlan {
  readonly host: KillHost;
  readonly shell: StartedShell;
  readonly graceMs: number;
  /** The command has nothing running any more, apart from what `host` finds. */
  readonly hasEnded: () => boolean;
}

/** Resolves when everything has ended, or must be killed. */
export async function interruptCommand(plan: InterruptPlan): Promise<"ended" | "must be killed"> {
  return await new Interruption(plan).run();
}

class Interruption {
  readonly #plan: InterruptPlan;
  readonly #send: Send;
  readonly #told = new Map<string, Told>();
  #waiting: WaitingBash[] = [];

  constructor(plan: InterruptPlan) {
    this.#plan = plan;
    this.#send = sendThrough(plan.host);
  }

  async run(): Promise<"ended" | "must be killed"> {
    const { host, shell, graceMs, hasEnded } = this.#plan;
    const deadline = monotonicMs() + graceMs;
    // Processes appear faster than they can be stopped: asking them is of no use.
    if (!(await this.#round("everything"))) return "must be killed";
    for (let pauseMs = 1; monotonicMs() < deadline; pauseMs = Math.min(pauseMs * 2, INTERRUPT_ROUND_MS)) {
      this.#release();
      await sleep(pauseMs);
      const pidBefore = lastPid();
      const left = (await host.processesOf([shell])).get(shell) ?? [];
      if (left.length === 0 && hasEnded())
        return (await isNothingLeft(host, [shell], pidBefore)) ? "ended" : "must be killed";
      // A session's bash may take the command only now.
      if (this.#told.size === 0 && left.length > 0 && !(await this.#round("everything"))) break;
      if (left.some((process) => this.#hasForgotten(process)) && !(await this.#round("what has forgotten")))
        break;
    }
    return "must be killed";
  }

  async #round(whom: "everything" | "what has forgotten"): Promise<boolean> {
    const { stopped, isComplete } = await this.#stop();
    const deaf = deafOf(stopped);
    for (const target of stopped) {
      const { process } = target;
      // Children of a trap came later: they do its work.
      if (whom === "what has forgotten" && !this.#hasForgotten(process)) continue;
      if (deaf.has(process.pid)) continue;
      const signal = ignoresSignal(process.pid, SIGINT) ? "SIGTERM" : "SIGINT";
      this.#told.set(keyOf(process), { program: process.command, signal });
      this.#send(target, signal);
    }
    // A bash that waits already stays stopped: its child may have ended since, and #release decides what it gets.
    const waiting = new Set(this.#waiting.map(({ target }) => keyOf(target.process)));
    const fresh = this.#bashesThatWait(stopped).filter(({ target }) => !waiting.has(keyOf(target.process)));
    this.#waiting.push(...fresh);
    const held = new Set(this.#waiting.map(({ target }) => target.process.pid));
    // Children first: by the time a parent runs, no child of it is stopped any more.
    for (const target of stopped.toReversed()) {
      if (!held.has(target.process.pid)) this.#send(target, "SIGCONT");
    }
    return isComplete;
  }

  /**
   * A bash whose foreground child has just ended by itself would forget an INT that comes before it has reaped the
   * child. It is given a moment to do so.
   */
  async #stop(): Promise<StoppedTogether> {
    const { host, shell } = this.#plan;
    const deadline = monotonicMs() + STOP_TOGETHER_MAX_MS;
    for (;;) {
      const result = await stopTogether(host, [shell], { send: this.#send });
      const reaping = result.stopped.filter(({ process }) => isBash(process.pid) && hasUnreaped(process.pid));
      const waiting = new Set(this.#waiting.map(({ target }) => target.process.pid));
      const isSettled = reaping.every(({ process }) => waiting.has(process.pid));
      if (isSettled || !result.isComplete || monotonicMs() >= deadline) return result;
      for (const target of reaping) if (!waiting.has(target.process.pid)) this.#send(target, "SIGCONT");
      await sleep(1);
    }
  }

  #hasForgotten(process: StoppedProcess["process"]): boolean {
    const told = this.#told.get(keyOf(process));
    // A process that is about to end has no command line any more.
    if (told === undefined || isEnding(process)) return false;
    if (told.program !== process.command) return true;
    return told.signal === "SIGINT" && ignoresSignal(process.pid, SIGINT);
  }

  /**
   * A bash that gets INT while it waits goes on with its next command unless its child died of INT: in
   * `server && deploy`, a server that handles INT and exits with 0 would start the deployment.
   */
  #bashesThatWait(stopped: readonly StoppedProcess[]): WaitingBash[] {
    const isTold = ({ process }: StoppedProcess) => this.#told.get(keyOf(process))?.signal === "SIGINT";
    return stopped.filter(isTold).flatMap((target) => {
      const children = stopped.filter((child) => child.parent === target.process.pid && isTold(child));
      if (children.length === 0 || !isBash(target.process.pid)) return [];
      return [{ target, children }];
    });
  }

  /** bash runs its trap on INT, or ends of INT, if its child did. If not, TERM ends it, and its trap on EXIT runs. */
  #release(): void {
    // Innermost first: what is released here may have ended when the next look comes.
    for (const waiting of this.#waiting.toReversed()) {
      const { target, children } = waiting;
      if (children.some(isRunning)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      if (children.some(({ process }) => endingSignal(process.pid) !== SIGINT)) this.#send(target, "SIGTERM");
      this.#send(target, "SIGCONT");
    }
  }
}

const SIGINT = constants.signals.SIGINT;
const SIGTERM = constants.signals.SIGTERM;

/** What ignores both signals, and everything below it: if only a child died, its parent would go on with its next step. */
function deafOf(stopped: readonly StoppedProcess[]): ReadonlySet<number> {
  const deaf = new Set<number>();
  for (const { process, parent } of stopped) {
    const ignoresBoth = ignoresSignal(process.pid, SIGINT) && ignoresSignal(process.pid, SIGTERM);
    if (ignoresBoth || deaf.has(parent)) deaf.add(process.pid);
  }
  return deaf;
}

function isBash(pid: number): boolean {
  return basename(programOf(pid) ?? "") === "bash";
}

function hasUnreaped(pid: number): boolean {
  return childrenOf(pid).some((child) => readStat(child)?.hasEnded);
}

function isEnding({ command }: StoppedProcess["process"]): boolean {
  return command === "" || /^\[.*\]$/.test(command);
}

function isRunning({ process: { pid, startTime } }: StoppedProcess): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startTime === startTime && !stat.hasEnded;
}
