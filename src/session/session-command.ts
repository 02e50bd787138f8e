// One command that runs in a session's bash: ended by its timeout, by an interrupt or by its own doing,
// whichever comes first. What it printed and what comes next is the session's business.

import type { Cause } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { PidMark } from "../engine/pids-since.ts";
import { interruptCommand } from "../shell/interrupt.ts";
import { endShells } from "../shell/kill.ts";
import type { Survivor } from "../shell/kill-report.ts";
import type { Outcome } from "../shell/outcome.ts";
import { INTERRUPT_GRACE_MS, TIMER_MAX_MS } from "../support/limits.ts";
import { type CommandPart, onlyCommand } from "./command-processes.ts";
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
  readonly #host: Engine;
  readonly #graceMs: number;
  readonly #ended: Promise<Ending>;
  readonly #part: CommandPart;
  #interrupting: Promise<void> | undefined;
  /** Nothing more is to be ended. */
  #isOver = false;
  /** What could not be ended. */
  readonly survivors: Survivor[] = [];
  #killing: Promise<void> | undefined;

  constructor(options: {
    readonly number: number;
    readonly bash: SessionBash;
    readonly host: Engine;
    readonly graceMs: number;
    readonly plan: CommandPlan;
    /** Before its start. */
    readonly pidsBefore: PidMark;
  }) {
    this.number = options.number;
    this.bash = options.bash;
    this.#host = options.host;
    this.#graceMs = options.graceMs;
    this.#part = { number: options.number, pidsBefore: options.pidsBefore };
    this.#ended = this.bash.run(options.plan);
    void this.#ended.then(() => {
      this.#isOver = true;
    });
  }

  async end({ timeoutMs, onTimeout, backgroundAfterMs, signal }: RunOptions): Promise<CommandEnding> {
    const leaveMs = onTimeout === "background" ? timeoutMs : backgroundAfterMs;
    const kill = () => void this.kill({ kind: "timeout", detail: String(timeoutMs) });
    const killing = onTimeout === "background" ? undefined : after(timeoutMs, kill);
    let leaving: NodeJS.Timeout | undefined;
    const left = new Promise<"left">((resolve) => {
      leaving = after(leaveMs, () => resolve("left"));
    });
    const interrupt = () => void this.interrupt();
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });
    try {
      const ending = await (leaveMs === undefined ? this.#ended : Promise.race([this.#ended, left]));
      if (ending === "left") return { kind: "left" };
      // Its bash is quicker than the last of what it had running.
      await this.#killing;
      await this.#interrupting;
      return { ...this.#unlessKilled(ending), interrupted: this.#interrupting !== undefined };
    } finally {
      this.#isOver = true;
      clearTimeout(killing);
      clearTimeout(leaving);
      signal?.removeEventListener("abort", interrupt);
    }
  }

  /** As Ctrl-C: INT first, so that traps run; what has not ended then is killed. Resolves when nothing of it is left. */
  async interrupt(): Promise<void> {
    if (this.#isOver && !this.#interrupting) return;
    this.#interrupting ??= this.#interrupt();
    await this.#interrupting;
  }

  async #interrupt(): Promise<void> {
    const running = onlyCommand(this.#host, this.#part);
    const rest = onlyCommand(this.#host, this.#part, "never");
    const ending = await interruptCommand({
      // A bash that has reported takes the next command; it is no longer part of this one.
      scope: { ...running, processesOf: (shells) => (this.#isOver ? rest : running).processesOf(shells) },
      shell: this.bash.started,
      graceMs: INTERRUPT_GRACE_MS,
      hasEnded: () => this.#isOver,
    });
    if (ending === "ended") return;
    if (!this.#isOver) await this.kill({ kind: "aborted", detail: "the caller" }, 0);
    await endShells(rest, [{ started: this.bash.started, ended: Promise.resolve() }], 0);
  }

  /** Ends the bash and everything this command started; what earlier ones left running lives on. */
  async kill(cause: Cause, graceMs = this.#graceMs): Promise<void> {
    if (this.#isOver) return;
    this.#killing ??= this.#kill(cause, graceMs);
    await this.#killing;
  }

  async #kill(cause: Cause, graceMs: number): Promise<void> {
    const target = this.bash.shell.toKill(cause);
    const host = onlyCommand(this.#host, this.#part, "always");
    const reports = await endShells(host, [target], graceMs);
    for (const report of reports.values()) this.survivors.push(...report.survivors);
    // Every call returns, also one whose bash the kernel does not let go.
    if (!this.#isOver && this.bash.isAlive) this.bash.abandon(UNKILLABLE);
  }

  /** It may have reported while it was ended, by a trap on TERM, say: its bash is gone, and the first reason stands. */
  #unlessKilled(ending: Ending): Ending {
    if (!this.#killing || ending.kind === "ended") return ending;
    return { kind: "ended", outcome: this.bash.shell.outcome ?? UNKILLABLE, taken: true, wedged: false };
  }
}

const UNKILLABLE: Outcome = { kind: "lost", reason: "it did not end after SIGKILL" };

function after(ms: number | undefined, act: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(act, Math.min(ms, TIMER_MAX_MS));
}
