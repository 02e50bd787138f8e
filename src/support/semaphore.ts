// Limits the number of leases that are held at a time. Further callers wait in the order in which they arrived. A
// session uses a semaphore to run one command at a time, and each scope has a semaphore for its foreground commands.
import { abortReason } from "./abort.ts";
import { DISPOSE } from "./realms.ts";

/** Dispose of the lease to let the next waiter run. */
export interface SemaphoreLease extends Disposable {
  /** Whether take() had to wait. */
  readonly hasWaited: boolean;
}

export interface SemaphoreWait {
  /** Receives the number of callers that are already waiting, if take() has to wait. */
  readonly onWait?: ((before: number) => void) | undefined;
  /** Ends the wait when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** What take() throws after an abort. @default the reason of the signal */
  readonly abortError?: () => unknown;
  /** Whether this caller goes before all waiting callers. */
  readonly isFirst?: boolean;
}

export class Semaphore {
  readonly #max: number;
  #held = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  get isHeld(): boolean {
    return this.#held > 0;
  }

  /** Resolves when fewer leases than the maximum are held. */
  async take(wait: SemaphoreWait = {}): Promise<SemaphoreLease> {
    if (wait.signal?.aborted) throw errorOf(wait);
    const hasWaited = this.#held >= this.#max;
    if (hasWaited) await this.#wait(wait);
    else this.#held++;
    let isHeld = true;
    return {
      hasWaited,
      [DISPOSE]: () => {
        if (!isHeld) return;
        isHeld = false;
        // Pass the lease on to the next waiter without changing the count: otherwise a caller that arrives in between
        // could overtake this waiter.
        const next = this.#waiting.shift();
        if (next) next();
        else this.#held--;
      },
    };
  }

  async #wait(wait: SemaphoreWait): Promise<void> {
    const { onWait, signal } = wait;
    onWait?.(this.#waiting.length);
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(errorOf(wait));
      };
      if (wait.isFirst) this.#waiting.unshift(enter);
      else this.#waiting.push(enter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}

/** One semaphore per key. A semaphore exists only while it is held. */
export class KeyedSemaphore {
  readonly #max: number;
  readonly #semaphores = new Map<string, Semaphore>();

  constructor(max: number) {
    this.#max = max;
  }

  async take(key: string, wait: SemaphoreWait = {}): Promise<SemaphoreLease> {
    const semaphore = this.#semaphores.get(key) ?? new Semaphore(this.#max);
    const taking = semaphore.take(wait);
    if (semaphore.isHeld) this.#semaphores.set(key, semaphore);
    const lease = await taking;
    return {
      hasWaited: lease.hasWaited,
      [DISPOSE]: () => {
        lease[DISPOSE]();
        if (!semaphore.isHeld && this.#semaphores.get(key) === semaphore) this.#semaphores.delete(key);
      },
    };
  }
}

function errorOf({ signal, abortError }: SemaphoreWait): unknown {
  return abortError ? abortError() : abortReason(signal);
}
