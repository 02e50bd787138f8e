// Ends shells at their deadlines.
import { DEADLINE_RETRY_MS, TIMER_MAX_MS } from "../support/limits.ts";
import type { ShellProcess } from "./shell-process.ts";

export class Deadlines {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** `timeoutMs` is the requested timeout, `leftMs` the time left until then. */
  set(shell: ShellProcess, timeoutMs: number, leftMs: number): void {
    const wait = Math.min(Math.max(0, leftMs), TIMER_MAX_MS);
    const timer = setTimeout(() => {
      if (wait < leftMs) this.set(shell, timeoutMs, leftMs - wait);
      else void this.#end(shell, timeoutMs);
    }, wait);
    timer.unref();
    this.#timers.set(shell.id, timer);
  }

  /** Retries a kill that fails, for example for lack of file descriptors. */
  async #end(shell: ShellProcess, timeoutMs: number): Promise<void> {
    await shell.end({ kind: "timeout", detail: String(timeoutMs) }).catch(() => {});
    if (shell.isRunning && this.#timers.has(shell.id)) this.set(shell, timeoutMs, DEADLINE_RETRY_MS);
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
