// Waits until a logger has put everything on disk that was printed.

import type { Logger } from "../engine/logger.ts";
import { monotonicMs } from "../support/clock.ts";
import { SESSION_DRAIN_IDLE_MS, SESSION_DRAIN_MAX_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";

/** `unsure`: it did not come to rest in time, or cannot be looked at. */
export async function drain(logger: Logger): Promise<"idle" | "gone" | "unsure"> {
  const deadline = monotonicMs() + SESSION_DRAIN_MAX_MS;
  let woken = false;
  let size = -1;
  let quietMs = monotonicMs();
  for (let looks = 0; monotonicMs() < deadline; looks++) {
    const { state } = logger;
    if (state === "idle" || state === "gone") return state;
    if (state === "stopped" && !woken) {
      // Another process stopped it: wake it, once. If it is stopped again, that is meant.
      woken = true;
      wake(logger.pid);
    }
    if (state === "hidden") {
      if (logger.size !== size) quietMs = monotonicMs();
      size = logger.size;
      if (monotonicMs() - quietMs > SESSION_DRAIN_IDLE_MS) return "unsure";
    }
    // It is about to be done, nearly always, and needs a processor for that: whoever looks without a pause may
    // keep it from the one it was woken on. Others come later.
    if (looks > 10) await sleep(1);
    else if (looks > 1) Atomics.wait(NOTHING, 0, 0, PAUSE_MS);
  }
  return "unsure";
}

/** Blocks this thread: of 0.01 ms become about 0.1, a tenth of what the shortest timer takes. */
const PAUSE_MS = 0.01;
const NOTHING = new Int32Array(new SharedArrayBuffer(4));

function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It has ended.
  }
}
