// Retries while the system has no free processes, file descriptors or memory. Such a shortage often ends soon.

import { monotonicMs } from "./clock.ts";
import { SPAWN_RETRY_FIRST_MS, SPAWN_RETRY_MAX_MS } from "./limits.ts";
import { isError } from "./realms.ts";
import { shortageOf } from "./system-error.ts";
import { sleep } from "./timing.ts";

/** Returns the result of the work, or throws its error. If a shortage lasts, the error says what to do. */
export async function retryShortage<T>(work: () => Promise<T>): Promise<T> {
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
