// Periodically removes finished shells that are too old or exceed the quota.
import { uptime } from "node:os";
import { presenceOf } from "../engine/attach.ts";
import { bootId } from "../engine/process-table.ts";
import type { StateRoot } from "../engine/state-dir.ts";
import { sweep } from "../engine/sweep.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import { SWEEP_DELAY_MS, SWEEP_INTERVAL_MS } from "../support/limits.ts";

export interface SweeperOptions {
  readonly root: StateRoot;
  readonly maxAgeSeconds: number;
  readonly quotaBytes: number;
  /** Called with the ids of the removed shells. */
  readonly onSwept: (ids: readonly string[]) => void;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Schedules a sweep if the last one was long ago. The caller does not wait for it. */
  scheduleIfDue(): void {
    if (monotonicMs() - this.#sweptMs < SWEEP_INTERVAL_MS) return;
    this.#sweptMs = monotonicMs();
    // A sweep has no caller to report to. If it fails, for example for lack of file descriptors, the next start tries
    // again.
    const sweep = () =>
      this.#sweep().catch(() => {
        this.#sweptMs = Number.NEGATIVE_INFINITY;
      });
    setTimeout(sweep, SWEEP_DELAY_MS).unref();
  }

  async #sweep(): Promise<void> {
    const { root, maxAgeSeconds, quotaBytes, onSwept } = this.#options;
    const limits = { nowMs: wallMs(), maxAgeMs: maxAgeSeconds * 1000, quotaBytes };
    const boot = { bootId: bootId(), uptimeMs: uptime() * 1000 };
    onSwept(await sweep(root, limits, presenceOf, boot));
  }
}
