// Checks running shells periodically: a killed shim, or a shim of another host, sends no report. Sending signal 0 to a
// shim is cheap, but succeeds even if the shim is a zombie. So each check also reads the state of a few shims, in turn.
// In addition, each check records when output arrived.
import { OutputMarks } from "../engine/output-times.ts";
import { LIVENESS_CHECK_MS, LIVENESS_READS_COUNT } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";
import type { ShellProcess } from "./shell-process.ts";

export class Watchlist {
  readonly #shells = new Set<ShellProcess>();
  readonly #marks = new OutputMarks();
  #timer: NodeJS.Timeout | undefined;
  #first = 0;

  add(shell: ShellProcess): void {
    this.#shells.add(shell);
    if (this.#timer) return;
    this.#timer = setInterval(() => this.#check(), LIVENESS_CHECK_MS);
    this.#timer.unref();
  }

  delete(shell: ShellProcess): void {
    this.#shells.delete(shell);
    if (this.#shells.size === 0) this.stop();
  }

  list(): ShellProcess[] {
    return [...this.#shells];
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const shells = this.list();
    const turn = shells.slice(this.#first, this.#first + LIVENESS_READS_COUNT);
    this.#first = this.#first + turn.length < shells.length ? this.#first + turn.length : 0;
    for (const shell of shells) this.#marks.sample(shell.started);
    for (const shell of turn) shell.refresh();
    for (const shell of shells) if (!exists(shell.started.shimPid)) shell.refresh();
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}
