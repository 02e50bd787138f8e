// Tries again while the system is short of processes, descriptors or memory: often it is for a moment only.

import { monotonicMs } from "./clock.ts";
import { SPAWN_RETRY_FIRST_MS, SPAWN_RETRY_MAX_MS } from "./limits.ts";
import { isError } from "./realms.ts";
import { shortageOf } from "./system-error.ts";
import { sleep } from "./timing.ts";

/** What the work returns, or what it throws: a shortage that lasts as an error that says what to do. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const deadline = monotonicMs() + SPAWN_RETRY_MAX_MS;
  for (let pause = SPAWN_RETRY_FIRST_MS; ; pause *= 2) {
    try {
      return await work();
    } catch (error) {
      const shortage = shortageOf(error) ?? shortageOf(isError(error) ? error.cause : undefined);
      if (!shortage) throw error;
      if (monotonicMs() + pause > deadline) throw shortage;
      await sleep(pause);
    }
  }
}
