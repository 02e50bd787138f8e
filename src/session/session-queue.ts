// Calls on one session run one after the other, in the order they came.
import { NacreError } from "../support/errors.ts";

export class SessionQueue {
  #busy = false;
  readonly #waiting: (() => void)[] = [];

  /** Whether a call has its turn. */
  get isBusy(): boolean {
    return this.#busy;
  }

  /** Resolves when it is this call's turn, with how to end it. `onWait` hears how many are before it. */
  async take(onWait?: (before: number) => void, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw aborted();
    return await this.#taken(this.#busy ? this.#wait(onWait, signal) : undefined);
  }

  async #taken(turn: Promise<void> | undefined): Promise<() => void> {
    if (turn !== undefined) await turn;
    this.#busy = true;
    return () => {
      this.#busy = false;
      // It is taken here and not when the next one gets to run: nobody slips in between.
      const next = this.#waiting.shift();
      if (!next) return;
      this.#busy = true;
      next();
    };
  }

  /** As take, before all others that wait. */
  async takeFirst(): Promise<() => void> {
    return await this.#taken(this.#busy ? this.#wait(undefined, undefined, "first") : undefined);
  }

  async #wait(
    onWait?: (before: number) => void,
    signal?: AbortSignal,
    place: "first" | "last" = "last",
  ): Promise<void> {
    const { promise, resolve, reject } = withResolvers();
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
      reject(aborted());
    };
    if (place === "first") this.#waiting.unshift(resolve);
    else this.#waiting.push(resolve);
    onWait?.(this.#waiting.length);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }
}

function aborted(): NacreError {
  return new NacreError("aborted", "The call was cancelled before its turn came; the command was not run.");
}

function withResolvers(): {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: Error) => void;
} {
  let resolve = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
