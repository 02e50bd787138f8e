// Ends shells and everything they started, and proves that nothing is left. Spares the shims and loggers, which record
// the end.
//
//   endShells
//     ask            sends TERM to every process; waitForEnd waits for the grace period
//     freezeAndKill  sends STOP to the rest until a scan finds nothing new, then KILL to all, and scans again. Stops
//                    everything before the first KILL, because a shell whose child dies runs its next command.
//                    Only processes that fork faster than a scan can follow are killed as they appear
//                    (engine/newest-processes.ts). After the deadline, this continues in the background until
//                    nothing is left.
//     waitForRecords waits until the shims have recorded the ends; continues a stopped shim

import { lastPid } from "../engine/last-pid.ts";
import type { SignalNewPlan } from "../engine/newest-processes.ts";
import type { ProcessScope } from "../engine/process-scope.ts";
import { isSameProcess, type ProcessRef, processKey } from "../engine/process-table.ts";
import { continueShim, mayNotSignal, type SignalResult, signalProcess } from "../engine/signals.ts";
import { keepsSandbox, type StartedShell } from "../engine/started-shell.ts";
import { monotonicMs } from "../support/clock.ts";
import {
  CONTINUE_SHIMS_MS,
  FORK_CHECK_MAX_MS,
  FORK_CHECK_MS,
  FREEZE_ROUNDS_MAX_COUNT,
  KILL_AGAIN_MAX_MS,
  KILL_MAX_MS,
  KILL_POLL_FIRST_MS,
  KILL_POLL_MAX_MS,
  KILL_RETRY_MAX_MS,
  KILL_VERIFY_MAX_MS,
  NEW_PROCESS_MAX_MS,
  NEW_PROCESS_QUIET_MS,
} from "../support/limits.ts";
import { sleep, within } from "../support/timing.ts";
import { type KillReport, type Survivor, survivorsOf } from "./kill-report.ts";
import { isNothingLeft } from "./nothing-left.ts";

export interface KillTarget {
  readonly started: StartedShell;
  /** Resolves when the shell has ended. */
  readonly ended: Promise<unknown>;
}

/** Ends these shells. One scan serves all of them, so killing a thousand shells costs little more than killing one. */
export async function endShells(
  scope: ProcessScope,
  targets: readonly KillTarget[],
  graceMs: number,
): Promise<Map<StartedShell, KillReport>> {
  const round = new KillRound(scope, targets);
  if (graceMs > 0) {
    await round.ask("SIGTERM");
    await round.waitForEnd(graceMs);
  }
  await round.freezeAndKill();
  await round.waitForRecords();
  return round.reports();
}

/** Sends one signal to every process of the shells, and does not wait. */
export async function signalShells(
  scope: ProcessScope,
  targets: readonly KillTarget[],
  signal: NodeJS.Signals,
): Promise<Map<StartedShell, KillReport>> {
  const round = new KillRound(scope, targets);
  await round.ask(signal);
  return round.reports("denied only");
}

class KillRound {
  readonly #scope: ProcessScope;
  readonly #targets: readonly KillTarget[];
  readonly #shells: readonly StartedShell[];
  readonly #signalled = new Map<StartedShell, Map<string, ProcessRef>>();
  readonly #denied = new Set<string>();
  readonly #running: Set<StartedShell>;
  /** Whether no process is left that nacre could kill. */
  #isDone = false;
  /** The result of the last scan. */
  #remaining = new Map<StartedShell, ProcessRef[]>();
  /** For each shell that forks faster than the scans can follow: the last process that got a signal. */
  readonly #outrunning = new Map<StartedShell, ProcessRef>();

  constructor(scope: ProcessScope, targets: readonly KillTarget[]) {
    this.#scope = scope;
    this.#targets = targets;
    this.#shells = targets.map(({ started }) => started);
    this.#running = new Set(this.#shells);
    for (const shell of this.#shells) this.#signalled.set(shell, new Map());
    for (const { started, ended } of targets) void ended.then(() => this.#running.delete(started));
  }

  async ask(signal: NodeJS.Signals): Promise<void> {
    // Scan before the first signal: after the signal, short-lived processes are gone, and the report could not name
    // them.
    const found = await this.#scope.processesOf(this.#shells);
    // A stopped process handles these signals only when it continues. After another signal, the caller may want the
    // process to stay stopped.
    const wake = ["SIGTERM", "SIGINT", "SIGHUP"].includes(signal) ? "SIGCONT" : undefined;
    for (const [shell, processes] of found) this.#askShell(shell, processes, signal, wake);
    this.#remaining = found;
  }

  #askShell(
    shell: StartedShell,
    processes: readonly ProcessRef[],
    signal: NodeJS.Signals,
    wake: NodeJS.Signals | undefined,
  ): void {
    // When bwrap ends, the kernel kills everything in the sandbox at once. So signal only the processes in the sandbox:
    // bwrap ends after them.
    const isSparing = signal !== "SIGKILL" && shell.sandbox !== undefined;
    const group = isSparing ? "gone" : this.#scope.signalGroup(shell, signal);
    for (const process of processes) {
      if (isSparing && keepsSandbox(process.pid, shell)) continue;
      const reached = group === "sent" && process.group === shell.commandPid;
      if (!reached) this.#send(shell, process, signal);
      // "sent" means that at least one member of the group got the signal. This process may belong to another user.
      else if (mayNotSignal(process.pid)) this.#denied.add(processKey(process));
      else this.#note(shell, process);
      if (wake) signalProcess(process, wake);
    }
  }

  /** Waits until everything that got the signal has ended, or the grace period is over. */
  async waitForEnd(graceMs: number): Promise<void> {
    const deadline = monotonicMs() + graceMs;
    const ended = Promise.all(this.#targets.map(({ ended }) => ended)).then(() => true);
    let allEnded = false;
    for (
      let wait = KILL_POLL_FIRST_MS;
      monotonicMs() < deadline;
      wait = Math.min(wait * 2, KILL_POLL_MAX_MS)
    ) {
      const left = deadline - monotonicMs();
      if (allEnded) await sleep(Math.min(wait, left));
      else allEnded = (await within(Math.min(wait, left), ended)) ?? false;
      if (allEnded && !this.#anyAlive()) return;
      if (wait >= CONTINUE_SHIMS_MS) this.#continueShims(this.#running);
    }
  }

  /** Kills until nothing is left. After the deadline, this continues without keeping this process alive. */
  async freezeAndKill(): Promise<void> {
    const killed = this.#killAll().then(() => {
      this.#isDone = true;
      this.#continueShims(this.#shells);
    });
    await within(KILL_MAX_MS, killed);
    // If this process ends first, the keeper kills the rest.
    void killed.catch(() => {});
  }

  /** Returns when nothing is left, or nothing that this user may signal. */
  async #killAll(): Promise<void> {
    const began = monotonicMs();
    for (
      let wait = 1;
      ;
      wait = Math.min(wait * 2, monotonicMs() - began < KILL_MAX_MS ? KILL_RETRY_MAX_MS : KILL_AGAIN_MAX_MS)
    ) {
      const isForking = await this.#stopAsItAppears();
      const pidBefore = lastPid();
      const found = await this.#freeze();
      if (found.length === 0 && !isForking) {
        if (await isNothingLeft(this.#scope, this.#shells, pidBefore)) return;
        continue;
      }
      for (const [shell, process] of found) this.#send(shell, process, "SIGKILL");
      if (found.length > 0 && found.every(([, process]) => this.#denied.has(processKey(process)))) return;
      // A long sleep happens only in the background.
      await sleep(wait, { keepsAlive: wait <= KILL_VERIFY_MAX_MS });
    }
  }

  /** Waits until the shims have recorded the ends. Continues stopped shims: a command can stop its shim. */
  async waitForRecords(): Promise<void> {
    const deadline = monotonicMs() + KILL_VERIFY_MAX_MS;
    const ended = Promise.all(this.#targets.map(({ ended }) => ended)).then(() => true);
    this.#continueShims(this.#shells);
    while (monotonicMs() < deadline && !(await within(CONTINUE_SHIMS_MS, ended)))
      this.#continueShims(this.#running);
  }

  /** "denied only": a process that got only TERM is not a survivor, unless the signal could not be sent. */
  reports(which: "all" | "denied only" = "all"): Map<StartedShell, KillReport> {
    return new Map(
      this.#shells.map((shell) => {
        const signalled = [...(this.#signalled.get(shell)?.values() ?? [])];
        return [
          shell,
          {
            signalled: signalled.map(({ pid, command }) => ({ pid, command })),
            survivors: this.#survivorsOf(shell, which),
            ...(which === "all" && !this.#isDone ? { unverified: true as const } : {}),
          },
        ];
      }),
    );
  }

  #survivorsOf(shell: StartedShell, which: "all" | "denied only"): Survivor[] {
    const remaining = this.#remaining.get(shell) ?? [];
    const isDenied = (process: ProcessRef) => this.#denied.has(processKey(process));
    const hasEnded = !this.#running.has(shell);
    const outrunning = this.#outrunning.get(shell);
    return survivorsOf({ shell, remaining, isDenied, hasEnded, outrunning }, which);
  }

  /**
   * A stopped process cannot fork, so a scan that finds nothing new has found everything. If every scan finds new
   * processes, or processes that are already gone, a process forks faster than nacre can stop it. Then nacre kills its
   * children as they appear.
   */
  async #freeze(): Promise<[StartedShell, ProcessRef][]> {
    const frozen = new Map<string, [StartedShell, ProcessRef]>();
    let leftMs = NEW_PROCESS_MAX_MS;
    this.#outrunning.clear();
    this.#stopGroups();
    for (let rounds = 1; rounds <= 2 * FREEZE_ROUNDS_MAX_COUNT && leftMs > 0; rounds++) {
      this.#remaining = await this.#scope.processesOf(this.#shells);
      const newcomers = this.#newIn(frozen);
      if (newcomers.length === 0) break;
      const results = newcomers.map(([shell, process]) => this.#send(shell, process, "SIGSTOP"));
      if (rounds < FREEZE_ROUNDS_MAX_COUNT && !results.includes("gone")) continue;
      const left = this.#shells.filter((shell) => (this.#remaining.get(shell)?.length ?? 0) > 0);
      // Count only this time, not the scans: on a slow machine, all rounds are still needed to stop everything.
      const before = monotonicMs();
      await this.#signalNew(left, { firstMs: NEW_PROCESS_QUIET_MS, maxMs: leftMs, signal: "SIGKILL" });
      leftMs -= monotonicMs() - before;
    }
    // Kill group leaders last: the death of a leader wakes the stopped members of its group.
    return [...frozen.values()].sort(([, a], [, b]) => Number(a.pid === a.group) - Number(b.pid === b.group));
  }

  /** Stops every member of a command's group at once: no member can fork in between. */
  #stopGroups(): void {
    for (const shell of this.#shells)
      if (shell.sandbox === undefined) this.#scope.signalGroup(shell, "SIGSTOP");
  }

  #newIn(frozen: Map<string, [StartedShell, ProcessRef]>): [StartedShell, ProcessRef][] {
    const newcomers: [StartedShell, ProcessRef][] = [];
    for (const [shell, processes] of this.#remaining) {
      for (const process of processes) {
        if (frozen.has(processKey(process))) continue;
        frozen.set(processKey(process), [shell, process]);
        newcomers.push([shell, process]);
      }
    }
    return newcomers;
  }

  /** Returns whether a new process has appeared. A scan alone can miss a chain of short-lived processes. */
  async #stopAsItAppears(): Promise<boolean> {
    const plan = { firstMs: FORK_CHECK_MS, maxMs: FORK_CHECK_MAX_MS, signal: "SIGSTOP" } as const;
    return await this.#signalNew(this.#shells, plan);
  }

  async #signalNew(shells: readonly StartedShell[], plan: SignalNewPlan): Promise<boolean> {
    let hasSignalled = false;
    await this.#scope.signalNewProcesses(shells, plan, (shell, process, result) => {
      hasSignalled = true;
      this.#outrunning.set(shell, process);
      this.#took(shell, process, result);
    });
    return hasSignalled;
  }

  #continueShims(shells: Iterable<StartedShell>): void {
    for (const shell of shells) if (shell.unseen === undefined) continueShim(shell);
  }

  #send(shell: StartedShell, process: ProcessRef, signal: NodeJS.Signals): SignalResult {
    const result = signalProcess(process, signal);
    this.#took(shell, process, result);
    return result;
  }

  #took(shell: StartedShell, process: ProcessRef, result: SignalResult): void {
    if (result === "denied") this.#denied.add(processKey(process));
    if (result === "sent") this.#note(shell, process);
  }

  #note(shell: StartedShell, process: ProcessRef): void {
    const noted = this.#signalled.get(shell);
    const key = processKey(process);
    // Keep the first entry: a process that is ending no longer has a command line.
    if (!noted?.get(key)) noted?.set(key, process);
  }

  #anyAlive(): boolean {
    const processes = [...this.#remaining.values()].flat();
    return processes.some(({ pid, startTime }) => isSameProcess(pid, startTime));
  }
}
