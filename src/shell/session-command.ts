// One command that runs in a session's bash: ended by its timeout, by an interrupt or by its own doing,
// whichever comes first. What it printed and what comes next is the session's business.
import type { Host, ProcessRef } from "../hosts/host.ts";
import type { Cause } from "../spool/end-record.ts";
import { monotonicMs } from "../support/clock.ts";
import { INTERRUPT_GRACE_MS, INTERRUPT_ROUND_MS, TIMER_MAX_MS } from "../support/limits.ts";
import { onlyCommand } from "./command-processes.ts";
import { endShells, type Survivor } from "./kill.ts";
import type { Outcome } from "./outcome.ts";
import type { Ending, SessionBash } from "./session-bash.ts";
import type { CommandPlan } from "./session-harness.ts";
import type { RunOptions } from "./session-options.ts";

export type CommandEnding =
  | (Ending & { readonly interrupted: boolean })
  /** Its time is over and it goes on without this call. */
  | { readonly kind: "left" };

export class SessionCommand {
  readonly number: number;
  readonly bash: SessionBash;
  readonly #host: Host;
  readonly #graceMs: number;
  readonly #ended: Promise<Ending>;
  #interrupted = false;
  /** Nothing more is to be ended. */
  #isOver = false;
  /** What could not be ended. */
  readonly survivors: Survivor[] = [];
  #killing: Promise<void> | undefined;

  constructor(options: {
    readonly number: number;
    readonly bash: SessionBash;
    readonly host: Host;
    readonly graceMs: number;
    readonly plan: CommandPlan;
  }) {
    this.number = options.number;
    this.bash = options.bash;
    this.#host = options.host;
    this.#graceMs = options.graceMs;
    this.#ended = this.bash.run(options.plan);
    void this.#ended.then(() => {
      this.#isOver = true;
    });
  }

  async end({ timeoutMs, onTimeout, signal }: RunOptions): Promise<CommandEnding> {
    let timer: NodeJS.Timeout | undefined;
    const left = new Promise<"left">((resolve) => {
      if (timeoutMs === undefined) return;
      const isOver = () => {
        if (onTimeout === "background") resolve("left");
        else void this.kill({ kind: "timeout", detail: String(timeoutMs) });
      };
      timer = setTimeout(isOver, Math.min(timeoutMs, TIMER_MAX_MS));
    });
    const interrupt = () => void this.interrupt();
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });
    try {
      const ending = await (timeoutMs === undefined ? this.#ended : Promise.race([this.#ended, left]));
      if (ending === "left") return { kind: "left" };
      // Its bash is quicker than the last of what it had running.
      await this.#killing;
      if (this.#interrupted) await this.#killRest();
      return { ...this.#unlessKilled(ending), interrupted: this.#interrupted };
    } finally {
      this.#isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
    }
  }

  /** As Ctrl-C: INT first, so that traps run; what has not ended then is killed. */
  async interrupt(): Promise<void> {
    if (this.#interrupted || this.#isOver) return;
    this.#interrupted = true;
    const told = new Map<number, string>();
    const deadline = monotonicMs() + INTERRUPT_GRACE_MS;
    while (!this.#isOver && monotonicMs() < deadline) {
      await this.#tell(told);
      await orAfter(INTERRUPT_ROUND_MS, this.#ended);
    }
    if (!this.#isOver) await this.kill({ kind: "aborted", detail: "the caller" });
  }

  /**
   * In rounds: a child that was forked just then was not told, and bash forgets the signal if the child it
   * waited for ended otherwise. Who was told is told again only if it is the bash of a newcomer, or another
   * program by now: a child that was told before it became one has forgotten.
   */
  async #tell(told: Map<number, string>): Promise<void> {
    const { started } = this.bash;
    const host = onlyCommand(this.#host, this.number);
    const processes = (await host.processesOf([started])).get(started) ?? [];
    // bash first: it ends the line only if it had the signal before its child died of it.
    processes.sort((a, b) => Number(b.pid === started.commandPid) - Number(a.pid === started.commandPid));
    const knows = ({ pid, command }: ProcessRef) => told.get(pid) === command;
    if (processes.every(knows)) return;
    for (const process of processes) {
      if (knows(process) && process.pid !== started.commandPid) continue;
      told.set(process.pid, process.command);
      host.signal(process, "SIGINT");
      host.signal(process, "SIGCONT");
    }
  }

  /** Ends the bash and everything this command started; what earlier ones left running lives on. */
  async kill(cause: Cause): Promise<void> {
    if (this.#isOver) return;
    this.#killing ??= this.#kill(cause);
    await this.#killing;
  }

  async #kill(cause: Cause): Promise<void> {
    const target = this.bash.shell.toKill(cause);
    const host = onlyCommand(this.#host, this.number, "always");
    const reports = await endShells(host, [target], this.#graceMs);
    for (const report of reports.values()) this.survivors.push(...report.survivors);
    // Every call returns, also one whose bash the kernel does not let go.
    if (!this.#isOver && this.bash.isAlive) this.bash.abandon(UNKILLABLE);
  }

  /** It may have reported while it was ended, by a trap on TERM, say: its bash is gone, and the first reason stands. */
  #unlessKilled(ending: Ending): Ending {
    if (!this.#killing || ending.kind === "ended") return ending;
    return { kind: "ended", outcome: this.bash.shell.outcome ?? UNKILLABLE, taken: true, wedged: false };
  }

  /** The bash may have survived the interrupt, by a trap; the rest of the command does not. */
  async #killRest(): Promise<void> {
    const { started } = this.bash.shell;
    const host = onlyCommand(this.#host, this.number, "never");
    await endShells(host, [{ started, ended: Promise.resolve() }], 0);
  }
}

const UNKILLABLE: Outcome = { kind: "lost", reason: "it did not end after SIGKILL" };

async function orAfter(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
