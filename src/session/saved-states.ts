// What one bash of a session has saved of its state, and what it could not: the newest whole state, for the bash that
// comes after it. bash writes the states (session-harness.ts) into two files in turn (session-state.ts).
import { monotonicMs } from "../support/clock.ts";
import { STATE_SAVE_MAX_MS } from "../support/limits.ts";
import { markOf } from "./session-harness.ts";
import { readState, readStateOf } from "./session-state.ts";

/** A state that is whole, and the command that it is of. */
export interface WholeState {
  readonly state: string;
  readonly number: number;
}

export class SavedStates {
  readonly #dir: string;
  readonly #nonce: string;
  #number = -1;
  /** The state it was born with; where a save has failed, the last one before that. */
  #kept: WholeState | undefined;
  #problem: string | undefined;
  #isReported = false;
  readonly #waiting = new Set<() => void>();

  constructor(dir: string, nonce: string, given: WholeState | undefined) {
    this.#dir = dir;
    this.#nonce = nonce;
    this.#kept = given;
  }

  /** bash reports that it has written the state after this command, or why it could not. */
  take(number: number, problem: string | undefined): void {
    this.#number = number;
    if (problem === undefined || this.#read(number) !== undefined) {
      this.#problem = undefined;
      this.#isReported = false;
    } else {
      // The next save goes to the file that the last whole state is in, and may fail, too.
      if (this.#problem === undefined) this.#kept = this.#read(number - 1) ?? this.#kept;
      this.#problem = problem;
    }
    this.wake();
  }

  /** Nothing more is saved: its bash is over. */
  wake(): void {
    for (const tell of this.#waiting) tell();
    this.#waiting.clear();
  }

  /** The newest whole state after this command, or one before it. */
  newest(number: number): WholeState | undefined {
    const state = readState(this.#dir, number, this.#nonce);
    if (state === undefined) return this.#kept;
    const isOfLast = state.endsWith(markOf({ nonce: this.#nonce }, `end ${number}`));
    return { state, number: isOfLast ? number : number - 1 };
  }

  /** Why the last save has failed, if it has. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The same, once for each time that it begins to fail. */
  takeProblem(): string | undefined {
    if (this.#isReported) return undefined;
    this.#isReported = this.#problem !== undefined;
    return this.#problem;
  }

  /** Resolves with true when bash has reported for this command, with false when it ends or takes too long. */
  async reported(number: number, isAlive: () => boolean): Promise<boolean> {
    const deadline = monotonicMs() + STATE_SAVE_MAX_MS;
    while (this.#number < number) {
      const leftMs = deadline - monotonicMs();
      if (!isAlive() || leftMs <= 0) return false;
      await this.#next(leftMs);
    }
    return true;
  }

  async #next(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      timer = setTimeout(resolve, maxMs);
    });
    clearTimeout(timer);
  }

  #read(number: number): WholeState | undefined {
    const state = readStateOf(this.#dir, number, this.#nonce);
    return state === undefined ? undefined : { state, number };
  }
}
