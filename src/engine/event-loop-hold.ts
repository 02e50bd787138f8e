// Keeps the event loop alive for as long as somebody waits for something.
import { TIMER_MAX_MS } from "../support/limits.ts";

/** A timer is all it takes: what is heard from the keeper arrives as long as the loop turns. */
export class EventLoopHold {
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Until the returned function is called. */
  hold(): () => void {
    // One for all: it is held for every command of a session.
    this.#timer ??= setInterval(() => {}, TIMER_MAX_MS);
    if (this.#holders++ === 0) this.#timer.ref();
    let held = true;
    return () => {
      if (held && --this.#holders === 0) this.#timer?.unref();
      held = false;
    };
  }
}
