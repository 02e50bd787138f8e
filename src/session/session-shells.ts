// The shells that end with a session: each of its bashes, and its background shells. An ended shell stays in the set
// while any of its processes is alive.
import type { Cause } from "../engine/end-record.ts";
import type { Engine } from "../engine/engine.ts";
import { endShells } from "../shell/kill.ts";
import type { KillReport } from "../shell/kill-report.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { SESSION_SHELLS_MAX_COUNT } from "../support/limits.ts";

export class SessionShells {
  readonly #engine: Engine;
  readonly #shells = new Set<ShellProcess>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  add(shell: ShellProcess): void {
    this.#shells.add(shell);
    if (this.#shells.size > SESSION_SHELLS_MAX_COUNT) void this.#prune();
  }

  /** Kills all processes of all shells. Finds them with one scan. */
  async kill(cause: Cause, graceMs: number): Promise<KillReport> {
    const shells = [...this.#shells];
    const targets = shells.map((shell) => shell.toKill(cause));
    const reports = [...(await endShells(this.#engine, targets, graceMs)).values()];
    for (const shell of shells) this.#shells.delete(shell);
    return {
      signalled: reports.flatMap(({ signalled }) => signalled),
      survivors: reports.flatMap(({ survivors }) => survivors),
    };
  }

  /** Drops ended shells that have no processes. */
  async #prune(): Promise<void> {
    const ended = [...this.#shells].filter((shell) => !shell.isRunning);
    const found = await this.#engine.processesOf(ended.map(({ started }) => started));
    for (const shell of ended) {
      if ((found.get(shell.started)?.length ?? 0) > 0) continue;
      this.#shells.delete(shell);
      this.#engine.release(shell.started);
    }
  }
}
