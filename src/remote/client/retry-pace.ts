// The back-off between connection attempts: no pause after a long-lived link, growing pauses after short-lived links.
// Without it, a remote end that breaks every link would make this process start client programs in a tight loop.
import { monotonicMs } from "../../support/clock.ts";
import { REMOTE_RETRY_MIN_MS, REMOTE_STEADY_MS } from "../../support/limits.ts";
import { sleep } from "../../support/timing.ts";

export class RetryPace {
  readonly #maxMs: number;
  #pauseMs = 0;
  #boundMs = 0;

  constructor(maxMs: number) {
    this.#maxMs = maxMs;
  }

  /** Call this when a link comes into use. */
  bound(): void {
    this.#boundMs = monotonicMs();
  }

  /** Milliseconds since the last link came into use. */
  get heldMs(): number {
    return monotonicMs() - this.#boundMs;
  }

  /** Call this when a link has ended. */
  lost(): void {
    if (this.heldMs >= REMOTE_STEADY_MS) this.#pauseMs = 0;
  }

  /** Waits before the next attempt. The pause is random, so that many clients do not reconnect at the same moment. */
  async pause(): Promise<void> {
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(this.#maxMs, Math.max(REMOTE_RETRY_MIN_MS, pauseMs * 2));
    if (pauseMs > 0) await sleep((pauseMs * (1 + Math.random())) / 2);
  }
}
