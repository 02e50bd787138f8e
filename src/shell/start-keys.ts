// Idempotency keys: two calls with the same key start the command only once.
import type { ShellProcess } from "./shell-process.ts";

export class StartKeys {
  readonly #runs = new Map<string, Promise<ShellProcess>>();
  /** The key of each started shell, by the id of the shell. */
  readonly #keys = new Map<string, string>();

  /** Returns the shell that was started with this key in this scope, or starts it. */
  async run(scope: string, key: string, start: () => Promise<ShellProcess>): Promise<ShellProcess> {
    const full = `${scope}\0${key}`;
    const known = this.#runs.get(full);
    if (known) return await known;
    const started = start();
    this.#runs.set(full, started);
    // A failed start frees the key.
    started.then(
      (shell) => this.#keys.set(shell.id, full),
      () => this.#runs.delete(full),
    );
    return await started;
  }

  /** Frees the key of this shell. */
  forget(id: string): void {
    const key = this.#keys.get(id);
    if (key !== undefined) this.#runs.delete(key);
    this.#keys.delete(id);
  }
}
