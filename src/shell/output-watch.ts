// Waits for changes in a shell's directory. Watches only while a reader follows the output.
import { type FSWatcher, watch } from "node:fs";
import { WATCH_FALLBACK_MS } from "../support/limits.ts";

export class OutputWatch {
  readonly #watcher: FSWatcher | undefined;
  #changed = true;
  #wake: (() => void) | undefined;

  constructor(dir: string) {
    try {
      this.#watcher = watch(dir, { persistent: false }, () => this.nudge());
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // There are no inotify watches left, or the directory is gone. next() then polls.
    }
  }

  /** Resolves at once if the directory has changed since the last call, else with the next change or poll. */
  async next(maxMs = WATCH_FALLBACK_MS): Promise<void> {
    if (!this.#changed && maxMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(maxMs, WATCH_FALLBACK_MS));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#changed = false;
  }

  nudge(): void {
    this.#changed = true;
    this.#wake?.();
  }

  close(): void {
    this.#watcher?.close();
  }
}
