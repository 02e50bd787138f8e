// How soon a lost link is tried again: at once after a link that held, with growing pauses after links that did not. A
// remote end whose links break again and again cannot make this process start client programs without a pause.
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

  /** A link is in use from now on. */
  bound(): void {
    this.#boundMs = monotonicMs();
  }

  /** For how long the last link has been in use. */
  get heldMs(): number {
    return monotonicMs() - this.#boundMs;
  }

  /** Call when a link has ended. */
  lost(): void {
    if (this.heldMs >= REMOTE_STEADY_MS) this.#pauseMs = 0;
  }

  /** Waits before the next attempt. Random, so that many clients do not return at the same moment. */
  async pause(): Promise<void> {
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(this.#maxMs, Math.max(REMOTE_RETRY_MIN_MS, pauseMs * 2));
    if (pauseMs > 0) await sleep((pauseMs * (1 + Math.random())) / 2);
  }
}
