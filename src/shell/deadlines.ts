// Ends shells whose time is over.
import { TIMER_MAX_MS } from "../support/limits.ts";
import type { ShellProcess } from "./shell-process.ts";

export class Deadlines {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** `timeoutMs` is what was asked for, `leftMs` what is left of it. */
  set(shell: ShellProcess, timeoutMs: number, leftMs: number): void {
    const wait = Math.min(Math.max(0, leftMs), TIMER_MAX_MS);
    const timer = setTimeout(() => {
      if (wait < leftMs) this.set(shell, timeoutMs, leftMs - wait);
      // What cannot be ended now (no file descriptor left, say) is tried again: its time is over for good.
      else
        shell
          .end({ kind: "timeout", detail: String(timeoutMs) })
          .catch(() => this.set(shell, timeoutMs, 1_000));
    }, wait);
    timer.unref();
    this.#timers.set(shell.id, timer);
  }

  clear({ id }: ShellProcess): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  clearAll(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
