// Ends shells with everything they started, and proves it. The shims and loggers are spared: they record the end.
//
//   endShells
//     ask            TERM to every process, then a grace period
//     freezeAndKill  STOP what is left until a scan finds nothing new, then KILL all of it, and scan again. Nothing
//                    is killed before everything is stopped: a shell whose child dies goes on with its next step.
//                    Only what forks faster than a scan can follow is killed as it appears
//                    (engine/newest-processes.ts). Has a deadline: past it, the same goes on in the background
//                    until nothing is left.
//     waitForRecords until the shims have recorded the ends; a stopped shim is continued

import type { HuntPlan, KillHost, ProcessRef, SignalResult, StartedShell } from "../engine/host.ts";
import { lastPid } from "../engine/process-table.ts";
import { monotonicMs } from "../support/clock.ts";
import {
  CONTINUE_SHIMS_MS,
  FORKING_LOOK_MAX_MS,
  FORKING_LOOK_MS,
  FREEZE_ROUNDS_MAX_COUNT,
  HUNT_MAX_MS,
  HUNT_QUIET_MS,
  KILL_AGAIN_MAX_MS,
  KILL_MAX_MS,
  KILL_VERIFY_MAX_MS,
} from "../support/limits.ts";
import { within } from "../support/timing.ts";
import { type KillReport, type Survivor, survivorsOf } from "./kill-report.ts";
import { isNothingLeft } from "./nothing-left.ts";

export interface KillTarget {
  readonly started: StartedShell;
  /** Resolves when the shell has ended. */
  readonly ended: Promise<unknown>;
}

/** One look at the processes serves all shells: killing a thousand costs little more than killing one. */
export async function endShells(
  host: KillHost,
  targets: readonly KillTarget[],
  graceMs: number,
): Promise<Map<StartedShell, KillReport>> {
  const round = new KillRound(host, targets);
  if (graceMs > 0) {
    await round.ask("SIGTERM");
    await round.waitForEnd(graceMs);
  }
  await round.freezeAndKill();
  await round.waitForRecords();
  return round.reports();
}

/** Sends one signal to everything the shells have running, and does not wait. */
export async function signalShells(
  host: KillHost,
  targets: readonly KillTarget[],
  signal: NodeJS.Signals,
): Promise<Map<StartedShell, KillReport>> {
  const round = new KillRound(host, targets);
  await round.ask(signal);
  return round.reports("denied only");
}

class KillRound {
  readonly #host: KillHost;
  readonly #targets: readonly KillTarget[];
  readonly #shells: readonly StartedShell[];
  readonly #signalled = new Map<StartedShell, Map<string, ProcessRef>>();
  readonly #denied = new Set<string>();
  readonly #running: Set<StartedShell>;
  /** Nothing is left that could be killed. */
  #isDone = false;
  #remaining = new Map<StartedShell, ProcessRef[]>();
  /** Of each shell that was faster than the scans: the last process that was hit. */
  readonly #outrunning = new Map<StartedShell, ProcessRef>();

  constructor(host: KillHost, targets: readonly KillTarget[]) {
    this.#host = host;
    this.#targets = targets;
    this.#shells = targets.map(({ started }) => started);
    this.#running = new Set(this.#shells);
    for (const shell of this.#shells) this.#signalled.set(shell, new Map());
    for (const { started, ended } of targets) void ended.then(() => this.#running.delete(started));
  }

  async ask(signal: NodeJS.Signals): Promise<void> {
    // Who is there is found out first: afterwards the quick ones are gone and the answer could not name them.
    const found = await this.#host.processesOf(this.#shells);
    // A stopped process would keep the request for later. Other signals may have been sent to stop it.
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
    // bwrap takes everything down with it at once: what is inside is asked, one by one, and bwrap follows.
    const spared = signal === "SIGKILL" ? undefined : shell.sandbox?.pid;
    const group = spared === undefined ? this.#host.signalGroup(shell, signal) : "gone";
    for (const process of processes) {
      if (process.pid === spared) continue;
      const reached = group === "sent" && process.group === shell.commandPid;
      if (!reached) this.#send(shell, process, signal);
      // A group is "sent" to when one of it could be: this one may be another user's.
      else if (this.#host.mayNotSignal(process)) this.#denied.add(keyOf(process));
      else this.#note(shell, process);
      if (wake) this.#host.signal(process, wake);
    }
  }

  /** Until everything asked has gone, or the grace is over. */
  async waitForEnd(graceMs: number): Promise<void> {
    const deadline = monotonicMs() + graceMs;
    const ended = Promise.all(this.#targets.map(({ ended }) => ended)).then(() => true);
    let allEnded = false;
    for (let wait = 5; monotonicMs() < deadline; wait = Math.min(wait * 2, 100)) {
      const left = deadline - monotonicMs();
      if (allEnded) await pause(Math.min(wait, left));
      else allEnded = (await within(Math.min(wait, left), ended)) ?? false;
      if (allEnded && !this.#anyAlive()) return;
      if (wait >= CONTINUE_SHIMS_MS) this.#continueShims(this.#running);
    }
  }

  /** Until nothing is left, or the deadline comes. Then it goes on, without keeping the program alive. */
  async freezeAndKill(): Promise<void> {
    const killed = this.#killAll().then(() => {
      this.#isDone = true;
      this.#continueShims(this.#shells);
    });
    await within(KILL_MAX_MS, killed);
    // At the end of this program the keeper does the same.
    void killed.catch(() => {});
  }

  /** Returns when nothing is left, or nothing that this user may signal. */
  async #killAll(): Promise<void> {
    const began = monotonicMs();
    for (
      let wait = 1;
      ;
      wait = Math.min(wait * 2, monotonicMs() - began < KILL_MAX_MS ? 50 : KILL_AGAIN_MAX_MS)
    ) {
      const isForking = await this.#stopAsItAppears();
      const pidBefore = lastPid();
      const found = await this.#freeze();
      if (found.length === 0 && !isForking) {
        if (await isNothingLeft(this.#host, this.#shells, pidBefore)) return;
        continue;
      }
      for (const [shell, process] of found) this.#send(shell, process, "SIGKILL");
      if (found.length > 0 && found.every(([, process]) => this.#denied.has(keyOf(process)))) return;
      await pause(wait);
    }
  }

  /** Until the shims have recorded the ends. One that the command has stopped would never do so. */
  async waitForRecords(): Promise<void> {
    const deadline = monotonicMs() + KILL_VERIFY_MAX_MS;
    const ended = Promise.all(this.#targets.map(({ ended }) => ended)).then(() => true);
    this.#continueShims(this.#shells);
    while (monotonicMs() < deadline && !(await within(CONTINUE_SHIMS_MS, ended)))
      this.#continueShims(this.#running);
  }

  /** A process that was only asked to end is no survivor, unless the signal could not be sent. */
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
    const isDenied = (process: ProcessRef) => this.#denied.has(keyOf(process));
    const hasEnded = !this.#running.has(shell);
    const outrunning = this.#outrunning.get(shell);
    return survivorsOf({ host: this.#host, shell, remaining, isDenied, hasEnded, outrunning }, which);
  }

  /**
   * A stopped process cannot fork: when a scan finds nothing new, everything is found. Where scan after scan finds
   * something new, or what it found is gone at once, something forks faster than it can be stopped: that is killed as
   * it appears.
   */
  async #freeze(): Promise<[StartedShell, ProcessRef][]> {
    const frozen = new Map<string, [StartedShell, ProcessRef]>();
    this.#outrunning.clear();
    for (let rounds = 1; rounds <= 2 * FREEZE_ROUNDS_MAX_COUNT; rounds++) {
      this.#remaining = await this.#host.processesOf(this.#shells);
      const newcomers = this.#newIn(frozen);
      if (newcomers.length === 0) break;
      const results = newcomers.map(([shell, process]) => this.#send(shell, process, "SIGSTOP"));
      if (rounds < FREEZE_ROUNDS_MAX_COUNT && !results.includes("gone")) continue;
      const left = this.#shells.filter((shell) => (this.#remaining.get(shell)?.length ?? 0) > 0);
      await this.#hunt(left, { firstMs: HUNT_QUIET_MS, maxMs: HUNT_MAX_MS, signal: "SIGKILL" });
    }
    // The death of a group's leader wakes its stopped members: leaders last.
    return [...frozen.values()].sort(([, a], [, b]) => Number(a.pid === a.group) - Number(b.pid === b.group));
  }

  #newIn(frozen: Map<string, [StartedShell, ProcessRef]>): [StartedShell, ProcessRef][] {
    const newcomers: [StartedShell, ProcessRef][] = [];
    for (const [shell, processes] of this.#remaining) {
      for (const process of processes) {
        if (frozen.has(keyOf(process))) continue;
        frozen.set(keyOf(process), [shell, process]);
        newcomers.push([shell, process]);
      }
    }
    return newcomers;
  }

  /** A scan can miss a chain of short-lived processes altogether. Whether something has appeared. */
  async #stopAsItAppears(): Promise<boolean> {
    const plan = { firstMs: FORKING_LOOK_MS, maxMs: FORKING_LOOK_MAX_MS, signal: "SIGSTOP" } as const;
    return await this.#hunt(this.#shells, plan);
  }

  async #hunt(shells: readonly StartedShell[], plan: HuntPlan): Promise<boolean> {
    let isStruck = false;
    await this.#host.hunt(shells, plan, (shell, process, result) => {
      isStruck = true;
      this.#outrunning.set(shell, process);
      this.#took(shell, process, result);
    });
    return isStruck;
  }

  /** A command can stop its shim (`kill -STOP $PPID`). The shim would then never record the end. */
  #continueShims(shells: Iterable<StartedShell>): void {
    for (const { shimPid, shimStart, unseen } of shells) {
      if (unseen !== undefined) continue;
      this.#host.signal({ pid: shimPid, startTime: shimStart }, "SIGCONT");
    }
  }

  #send(shell: StartedShell, process: ProcessRef, signal: NodeJS.Signals): SignalResult {
    const result = this.#host.signal(process, signal);
    this.#took(shell, process, result);
    return result;
  }

  #took(shell: StartedShell, process: ProcessRef, result: SignalResult): void {
    if (result === "denied") this.#denied.add(keyOf(process));
    if (result === "sent") this.#note(shell, process);
  }

  #note(shell: StartedShell, process: ProcessRef): void {
    this.#signalled.get(shell)?.set(keyOf(process), process);
  }

  #anyAlive(): boolean {
    for (const processes of this.#remaining.values()) {
      if (processes.some(({ pid, startTime }) => this.#host.isAlive(pid, startTime))) return true;
    }
    return false;
  }
}

function keyOf({ pid, startTime }: ProcessRef): string {
  return `${pid}/${startTime}`;
}

/** A long one is for the background, and keeps no program alive. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (ms > KILL_VERIFY_MAX_MS) timer.unref();
  });
}
