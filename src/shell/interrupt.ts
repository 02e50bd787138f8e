// Interrupts a command and everything it started, as Ctrl-C does: sends INT to all processes at once
// (stop-together.ts), and waits for their traps. Then the caller kills the rest.
//
//   interruptCommand -> #round: stop everything, queue a signal for each process, continue all but waiting bashes
//                    -> #release: continues a bash when its foreground child has ended
//                    until nothing is left, or the grace period is over
//
// bash starts a background list so that it ignores INT, though its children may not. So a process that ignores INT gets
// TERM. A process that ignores both signals keeps running, with all its descendants, until the grace period is over.

import { constants } from "node:os";
import { basename } from "node:path";
import { lastPid } from "../engine/last-pid.ts";
import type { ProcessScope } from "../engine/process-scope.ts";
import {
  childrenOf,
  endingSignal,
  ignoresSignal,
  isEnding,
  isSameProcess,
  type ProcessRef,
  processKey,
  programOf,
} from "../engine/process-table.ts";
import { signalProcess } from "../engine/signals.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { monotonicMs } from "../support/clock.ts";
import { INTERRUPT_ROUND_MS, STOP_TOGETHER_MAX_MS, STOP_TOGETHER_POLL_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { isNothingLeft } from "./nothing-left.ts";
import { type StoppedProcess, type StoppedTogether, stopTogether } from "./stop-together.ts";

/**
 * The signal that a process got. If the process has since started another program, or ignores the signal now, the
 * signal is lost.
 */
interface SentSignal {
  readonly program: string;
  readonly signal: NodeJS.Signals;
}

/** A bash that stays stopped until these children have ended, because it may be waiting for one of them. */
interface WaitingBash {
  readonly process: ProcessRef;
  readonly children: readonly ProcessRef[];
}

export interface InterruptPlan {
  readonly scope: ProcessScope;
  readonly shell: StartedShell;
  readonly graceMs: number;
  /** Whether the command has ended, apart from the processes that `scope` finds. */
  readonly hasEnded: () => boolean;
}

/** Resolves when everything has ended, or must be killed. */
export async function interruptCommand(plan: InterruptPlan): Promise<"ended" | "must be killed"> {
  return await new Interruption(plan).run();
}

class Interruption {
  readonly #plan: InterruptPlan;
  readonly #sent = new Map<string, SentSignal>();
  #waiting: WaitingBash[] = [];

  constructor(plan: InterruptPlan) {
    this.#plan = plan;
  }

  async run(): Promise<"ended" | "must be killed"> {
    const { scope, shell, graceMs, hasEnded } = this.#plan;
    const deadline = monotonicMs() + graceMs;
    // If processes appear faster than nacre can stop them, an interrupt cannot reach them all.
    if (!(await this.#round("all processes"))) return "must be killed";
    for (let pauseMs = 1; monotonicMs() < deadline; pauseMs = Math.min(pauseMs * 2, INTERRUPT_ROUND_MS)) {
      this.#release();
      await sleep(pauseMs);
      const pidBefore = lastPid();
      const left = (await scope.processesOf([shell])).get(shell) ?? [];
      if (left.length === 0 && hasEnded())
        return (await isNothingLeft(scope, [shell], pidBefore)) ? "ended" : "must be killed";
      // A session's bash may have taken the command only now.
      if (this.#sent.size === 0 && left.length > 0 && !(await this.#round("all processes"))) break;
      if (left.some((process) => this.#hasLostSignal(process)) && !(await this.#round("lost signals"))) break;
    }
    return "must be killed";
  }

  async #round(which: "all processes" | "lost signals"): Promise<boolean> {
    const { stopped, isComplete } = await this.#stop();
    const spared = ignoringBoth(stopped);
    for (const { process } of stopped) {
      // Processes that appeared after the first round probably belong to a trap, so leave them alone.
      if (which === "lost signals" && !this.#hasLostSignal(process)) continue;
      if (spared.has(process.pid)) continue;
      const signal = ignoresSignal(process.pid, SIGINT) ? "SIGTERM" : "SIGINT";
      this.#sent.set(processKey(process), { program: process.command, signal });
      signalProcess(process, signal);
    }
    // Leave a bash stopped if it is already on the list: its child may have ended since, and #release decides which
    // signal that bash gets.
    const waiting = new Set(this.#waiting.map(({ process }) => processKey(process)));
    const fresh = this.#bashesThatWait(stopped).filter(({ process }) => !waiting.has(processKey(process)));
    this.#waiting.push(...fresh);
    const held = new Set(this.#waiting.map(({ process }) => process.pid));
    // Continue children first: when a parent runs again, none of its children is still stopped.
    for (const { process } of stopped.toReversed())
      if (!held.has(process.pid)) signalProcess(process, "SIGCONT");
    return isComplete;
  }

  /**
   * Stops everything. First gives each bash a moment to reap its children: a bash drops an INT that arrives after its
   * foreground child has ended by itself and before bash has reaped this child.
   */
  async #stop(): Promise<StoppedTogether> {
    const { scope, shell } = this.#plan;
    const deadline = monotonicMs() + STOP_TOGETHER_MAX_MS;
    for (;;) {
      const result = await stopTogether(scope, shell);
      const waiting = new Set(this.#waiting.map(({ process }) => process.pid));
      const reaping = result.stopped.filter(
        ({ process: { pid } }) => isBash(pid) && hasUnreaped(pid) && !waiting.has(pid),
      );
      if (reaping.length === 0 || !result.isComplete || monotonicMs() >= deadline) return result;
      for (const { process } of reaping) signalProcess(process, "SIGCONT");
      await sleep(STOP_TOGETHER_POLL_MS);
    }
  }

  #hasLostSignal(process: ProcessRef): boolean {
    const sent = this.#sent.get(processKey(process));
    // A process that is about to end no longer has a command line.
    if (sent === undefined || hasNoCommandLine(process)) return false;
    if (sent.program !== process.command) return true;
    return sent.signal === "SIGINT" && ignoresSignal(process.pid, SIGINT);
  }

  /**
   * The bashes that must stay stopped for now. A bash that gets INT while it waits for a child runs its next command
   * unless the child died of INT. In `server && deploy`, a server that handles INT and exits with 0 would start the
   * deployment.
   */
  #bashesThatWait(stopped: readonly StoppedProcess[]): WaitingBash[] {
    const gotInt = ({ process }: StoppedProcess) => this.#sent.get(processKey(process))?.signal === "SIGINT";
    return stopped.filter(gotInt).flatMap(({ process }) => {
      const children = stopped.filter((child) => child.parent === process.pid && gotInt(child));
      if (children.length === 0 || !isBash(process.pid)) return [];
      return [{ process, children: children.map((child) => child.process) }];
    });
  }

  /**
   * Continues each bash whose children have ended. If a child died of INT, bash runs its INT trap or dies of INT.
   * Otherwise TERM ends bash, and its EXIT trap runs.
   */
  #release(): void {
    // Release the innermost bash first: it may have ended by the time its parent's turn comes.
    for (const waiting of this.#waiting.toReversed()) {
      const { process, children } = waiting;
      if (children.some(({ pid, startTime }) => isSameProcess(pid, startTime))) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      if (children.some(({ pid }) => endingSignal(pid) !== SIGINT)) signalProcess(process, "SIGTERM");
      signalProcess(process, "SIGCONT");
    }
  }
}

const SIGINT = constants.signals.SIGINT;
const SIGTERM = constants.signals.SIGTERM;

/**
 * The processes that ignore both signals, and all their descendants. These must not get the signal either: if only a
 * child died, its parent would run its next command.
 */
function ignoringBoth(stopped: readonly StoppedProcess[]): ReadonlySet<number> {
  const ignoring = new Set<number>();
  for (const { process, parent } of stopped) {
    const ignoresBoth = ignoresSignal(process.pid, SIGINT) && ignoresSignal(process.pid, SIGTERM);
    if (ignoresBoth || ignoring.has(parent)) ignoring.add(process.pid);
  }
  return ignoring;
}

function isBash(pid: number): boolean {
  return basename(programOf(pid) ?? "") === "bash";
}

/** Whether a child has ended, or runs no more of its program: bash is about to reap it. */
function hasUnreaped(pid: number): boolean {
  return childrenOf(pid).some(isEnding);
}

function hasNoCommandLine({ command }: ProcessRef): boolean {
  return command === "" || /^\[.*\]$/.test(command);
}
