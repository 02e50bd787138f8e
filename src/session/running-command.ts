// One running command of a session, until it ends by itself, or a timeout or an interrupt ends it.

import type { Cause } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import type { PidMark } from "../engine/pids-since.ts";
import { interruptCommand } from "../shell/interrupt.ts";
import { endShells } from "../shell/kill.ts";
import type { Survivor } from "../shell/kill-report.ts";
import { INTERRUPT_GRACE_MS, KILL_GRACE_MS, TIMER_MAX_MS } from "../support/limits.ts";
import { type CommandPart, onlyCommand } from "./command-processes.ts";
import { type Ending, type SessionBash, UNKILLABLE } from "./session-bash.ts";
import type { CommandPlan } from "./session-harness.ts";
import type { RunOptions } from "./session-options.ts";

export type CommandEnding =
  | (Ending & { readonly interrupted: boolean })
  /** The call's time is over. The command continues without the call. */
  | { readonly kind: "detached" };

export interface RunningOptions {
  readonly bash: SessionBash;
  readonly engine: Engine;
  readonly killGraceMs: number;
  readonly plan: CommandPlan;
  /** Taken before the command started. */
  readonly pidsBefore: PidMark;
}

export class RunningCommand {
  /** Processes that could not be killed. */
  readonly survivors: Survivor[] = [];
  readonly #options: RunningOptions;
  readonly #part: CommandPart;
  readonly #ended: Promise<Ending>;
  #interrupting: Promise<void> | undefined;
  #killing: Promise<void> | undefined;
  /** Whether nothing is left to kill: the command or its bash has ended, or the command continues without the call. */
  #isOver = false;

  /** Sends the command. */
  constructor(options: RunningOptions) {
    const { plan, pidsBefore } = options;
    this.#options = options;
    this.#part = { number: plan.number, pidsBefore };
    this.#ended = options.bash.run(plan);
    void this.#ended.then(() => {
      this.#isOver = true;
    });
  }

  /** Waits for the command's report, its timeout or the end of the call, whichever comes first. */
  async end({ timeoutMs, onTimeout, backgroundAfterMs, signal }: RunOptions): Promise<CommandEnding> {
    const detachMs = onTimeout === "background" ? timeoutMs : backgroundAfterMs;
    const killMs = onTimeout === "background" ? undefined : timeoutMs;
    const kill = () => void this.kill({ kind: "timeout", detail: String(timeoutMs) });
    const killTimer = killMs === undefined ? undefined : setTimeout(kill, Math.min(killMs, TIMER_MAX_MS));
    let detachTimer: NodeJS.Timeout | undefined;
    const interrupt = () => void this.interrupt();
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });
    try {
      const ending = await (detachMs === undefined
        ? this.#ended
        : new Promise<Ending | "detached">((resolve) => {
            void this.#ended.then(resolve);
            detachTimer = setTimeout(() => resolve("detached"), Math.min(detachMs, TIMER_MAX_MS));
          }));
      if (ending === "detached") return { kind: "detached" };
      // Wait for the last process of the command: bash can end earlier.
      await this.#killing;
      await this.#interrupting;
      return { ...this.#unlessKilled(ending), interrupted: this.#interrupting !== undefined };
    } finally {
      this.#isOver = true;
      clearTimeout(killTimer);
      clearTimeout(detachTimer);
      signal?.removeEventListener("abort", interrupt);
    }
  }

  /** Acts like Ctrl-C: sends INT, which runs traps, and later KILL. Resolves when no process of the command is left. */
  async interrupt(): Promise<void> {
    if (this.#isOver && !this.#interrupting) return;
    this.#interrupting ??= this.#interrupt();
    await this.#interrupting;
  }

  async #interrupt(): Promise<void> {
    const { engine, bash, killGraceMs } = this.#options;
    const running = onlyCommand(engine, this.#part);
    const rest = onlyCommand(engine, this.#part, "never");
    const ending = await interruptCommand({
      // After the report, bash waits for the next command and no longer belongs to this command.
      scope: { ...running, processesOf: (shells) => (this.#isOver ? rest : running).processesOf(shells) },
      shell: bash.started,
      // If the grace period is longer than the default, it also applies to INT traps.
      graceMs: killGraceMs > KILL_GRACE_MS ? killGraceMs : INTERRUPT_GRACE_MS,
      hasEnded: () => this.#isOver,
    });
    if (ending === "ended") return;
    if (!this.#isOver) await this.kill({ kind: "aborted", detail: "the caller" }, 0);
    await endShells(rest, [{ started: bash.started, ended: Promise.resolve() }], 0);
  }

  /** Kills the bash and everything this command started, but not what earlier commands left running. */
  async kill(cause: Cause, graceMs = this.#options.killGraceMs): Promise<void> {
    if (this.#isOver) return;
    this.#killing ??= this.#kill(cause, graceMs);
    await this.#killing;
  }

  async #kill(cause: Cause, graceMs: number): Promise<void> {
    const { engine, bash } = this.#options;
    const scope = onlyCommand(engine, this.#part, "always");
    const reports = await endShells(scope, [bash.shell.toKill(cause)], graceMs);
    for (const report of reports.values()) this.survivors.push(...report.survivors);
    // The call must return even if the kernel cannot end its bash.
    if (!this.#isOver && bash.isAlive) bash.abandon();
  }

  /**
   * With a trap on TERM, a command can report its end while nacre kills it. Its outcome is still that nacre killed it.
   */
  #unlessKilled(ending: Ending): Ending {
    if (!this.#killing || ending.kind === "ended") return ending;
    const outcome = this.#options.bash.shell.outcome ?? UNKILLABLE;
    return { kind: "ended", outcome, taken: true, wedged: false };
  }
}
