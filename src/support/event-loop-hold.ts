// Keeps the event loop of this process alive while a caller waits for a command. The keeper's pipes do not keep the
// event loop alive: nacre calls unref() on them, because an idle program must be able to exit.
import { TIMER_MAX_MS } from "./limits.ts";
import { DISPOSE } from "./realms.ts";

let holders = 0;
let timer: NodeJS.Timeout | undefined;

export interface EventLoopHold extends Disposable {
  readonly release: () => void;
}

/**
 * Keeps the event loop alive until released. All holders share one timer: every session command needs a hold, so it
 * must be cheap.
 */
export function holdEventLoop(): EventLoopHold {
  timer ??= setInterval(() => {}, TIMER_MAX_MS);
  if (holders++ === 0) timer.ref();
  let held = true;
  const release = () => {
    if (held && --holders === 0) timer?.unref();
    held = false;
  };
  return { release, [DISPOSE]: release };
}
