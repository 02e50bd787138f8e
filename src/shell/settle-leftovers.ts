// Distinguishes leftovers from processes that are about to end or to run another program. On a busy machine, such a
// process can wait for a processor for much longer than it needs to run. So the time in which it waits does not count.

import { isEnding, type ProcessRef, readStat } from "../engine/process-table.ts";
import {
  CLOCK_TICK_MS,
  LEFTOVER_GRACE_MS,
  LEFTOVER_POLL_MAX_MS,
  LEFTOVER_WAIT_MAX_MS,
} from "../support/limits.ts";
import { sleep } from "../support/timing.ts";

/** Repeats `find` until no process is unsettled, or the grace period of the unsettled ones is over. */
export async function settleLeftovers(
  find: () => Promise<readonly ProcessRef[]>,
  isUnsettled: (process: ProcessRef) => boolean,
): Promise<readonly ProcessRef[]> {
  const ticksAtFirst = new Map<number, number>();
  let graceMs = 0;
  // The sum of the pauses. The time on the clock proves nothing, because this process may also lack processor time.
  let waitedMs = 0;
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LEFTOVER_POLL_MAX_MS)) {
    const found = await find();
    const unsettled = found.filter(isUnsettled);
    // A process that ended after it was found looks settled, because it has no open descriptors any more.
    if (unsettled.length === 0 || graceMs >= LEFTOVER_GRACE_MS || waitedMs >= LEFTOVER_WAIT_MAX_MS)
      return found.filter(({ pid }) => !isEnding(pid));
    await sleep(pauseMs);
    waitedMs += pauseMs;
    if (!unsettled.some(({ pid }) => lacksProcessor(pid, ticksAtFirst))) graceMs += pauseMs;
  }
}

/**
 * Whether the process is ready to run or waits for the disk, and has used less processor time than the grace period.
 */
function lacksProcessor(pid: number, ticksAtFirst: Map<number, number>): boolean {
  const stat = readStat(pid);
  if (stat === undefined) return false;
  const first = ticksAtFirst.get(pid) ?? stat.processorTicks;
  ticksAtFirst.set(pid, first);
  return "RD".includes(stat.state) && (stat.processorTicks - first) * CLOCK_TICK_MS < LEFTOVER_GRACE_MS;
}
