// Lets only so many foreground commands of a scope run at a time; the others wait, in order.
import { abortReason, throwIfAborted } from "../support/abort.ts";

export class Turns {
  readonly #max: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when it is this one's turn, with how to end it. `onWait` hears how many are before it. */
  async take(scope: string, onWait: (before: number) => void, signal?: AbortSignal): Promise<() => void> {
    throwIfAborted(signal);
    const running = this.#running.get(scope) ?? 0;
    if (running < this.#max) this.#running.set(scope, running + 1);
    else await this.#wait(scope, onWait, signal);
    let done = false;
    return () => {
      if (done) return;
      done = true;
      this.#next(scope);
    };
  }

  async #wait(scope: string, onWait: (before: number) => void, signal?: AbortSignal): Promise<void> {
    const queue = this.#waiting.get(scope) ?? [];
    this.#waiting.set(scope, queue);
    onWait(queue.length);
    await new Promise<void>((resolve, reject) => {
      const turn = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        queue.splice(queue.indexOf(turn), 1);
        reject(abortReason(signal));
      };
      queue.push(turn);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** The place goes to the next in the queue, or is free. */
  #next(scope: string): void {
    const next = this.#waiting.get(scope)?.shift();
    if (next) {
      next();
      return;
    }
    const left = (this.#running.get(scope) ?? 1) - 1;
    if (left > 0) this.#running.set(scope, left);
    else this.#running.delete(scope);
  }
}
