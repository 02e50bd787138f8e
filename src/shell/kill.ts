// Ends shells with everything they started, and proves it: first asks, then freezes what is left
// until nothing new appears, kills it, and looks again. The shims and loggers are spared: they
// record the end.
import type { Host, ProcessRef, StartedShell } from "../hosts/host.ts";
import { monotonicMs } from "../support/clock.ts";
import { KILL_VERIFY_MAX_MS } from "../support/limits.ts";

export interface Survivor {
  readonly pid: number;
  readonly command: string;
  readonly reason: string;
}

export interface KillReport {
  /** Every process that got a signal. */
  readonly signalled: readonly { readonly pid: number; readonly command: string }[];
  /** What could not be ended, and why. Empty means: looked for, and nothing found. */
  readonly survivors: readonly Survivor[];
}

export interface KillTarget {
  readonly started: StartedShell;
  /** Resolves when the shell has ended. */
  readonly ended: Promise<unknown>;
}

/** What ending needs of a host. */
export type KillHost = Pick<Host, "processesOf" | "signal" | "mayNotSignal" | "signalGroup" | "isAlive">;

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
  await orAfter(KILL_VERIFY_MAX_MS, Promise.all(targets.map(({ ended }) => ended)));
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
  #remaining = new Map<StartedShell, ProcessRef[]>();

  constructor(host: KillHost, targets: readonly KillTarget[]) {
    this.#host = host;
    this.#targets = targets;
    this.#shells = targets.map(({ started }) => started);
    for (const shell of this.#shells) this.#signalled.set(shell, new Map());
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
      else allEnded = (await orAfter(Math.min(wait, left), ended)) ?? false;
      if (allEnded && !this.#anyAlive()) return;
    }
  }

  async freezeAndKill(): Promise<void> {
    const deadline = monotonicMs() + KILL_VERIFY_MAX_MS;
    for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
      const frozen = await this.#freeze();
      if (frozen.length === 0) return;
      for (const [shell, process] of frozen) this.#send(shell, process, "SIGKILL");
      const killable = frozen.filter(([, process]) => !this.#denied.has(keyOf(process)));
      if (killable.length === 0 || monotonicMs() > deadline) return;
      await pause(wait);
    }
  }

  /** Whoever was merely asked is no survivor; whoever could not be reached is. */
  reports(which: "all" | "denied only" = "all"): Map<StartedShell, KillReport> {
    const counts = (process: ProcessRef) => which === "all" || this.#denied.has(keyOf(process));
    return new Map(
      this.#shells.map((shell) => [
        shell,
        {
          signalled: [...(this.#signalled.get(shell)?.values() ?? [])].map(({ pid, command }) => ({
            pid,
            command,
          })),
          survivors: (this.#remaining.get(shell) ?? [])
            .filter((process) => counts(process) && this.#host.isAlive(process.pid, process.startTime))
            .map((process) => ({
              pid: process.pid,
              command: process.command,
              reason: this.#reason(process),
            })),
        },
      ]),
    );
  }

  /** A stopped process cannot fork: when a look finds nobody new, everybody is found. */
  async #freeze(): Promise<[StartedShell, ProcessRef][]> {
    const frozen = new Map<string, [StartedShell, ProcessRef]>();
    for (let newcomers = 1; newcomers > 0; ) {
      newcomers = 0;
      this.#remaining = await this.#host.processesOf(this.#shells);
      for (const [shell, processes] of this.#remaining) {
        for (const process of processes) {
          if (frozen.has(keyOf(process))) continue;
          frozen.set(keyOf(process), [shell, process]);
          this.#send(shell, process, "SIGSTOP");
          newcomers++;
        }
      }
    }
    // The death of a group's leader wakes its stopped members: leaders last.
    return [...frozen.values()].sort(([, a], [, b]) => Number(a.pid === a.group) - Number(b.pid === b.group));
  }

  #send(shell: StartedShell, process: ProcessRef, signal: NodeJS.Signals): void {
    const result = this.#host.signal(process, signal);
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

  #reason(process: ProcessRef): string {
    return this.#denied.has(keyOf(process))
      ? "it belongs to another user and this process may not signal it (EPERM)"
      : "it did not end after SIGKILL; it may be waiting in the kernel (uninterruptible sleep)";
  }
}

function keyOf({ pid, startTime }: ProcessRef): string {
  return `${pid}/${startTime}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Leaves no timer behind that would keep the program alive. */
async function orAfter<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
