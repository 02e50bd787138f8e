// Keeps the event loop of this process alive while a caller waits for a command. The keeper's pipes do not: nacre
// calls unref() on them, so that an idle program can exit.
import { TIMER_MAX_MS } from "./limits.ts";
import { DISPOSE } from "./realms.ts";

let holders = 0;
let timer: NodeJS.Timeout | undefined;

export interface EventLoopHold extends Disposable {
  readonly release: () => void;
}

/** Holds the event loop until released. Cheap, because all holders share one timer: every session command needs it. */
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
