import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { lastPid, pidMax } from "../../src/engine/last-pid.ts";
import { isNoneSince, markPids, NO_PIDS, pidsSince } from "../../src/engine/pids-since.ts";
import { monotonicMs } from "../../src/support/clock.ts";

const HOUR_MS = 3_600_000;

test("the PIDs since a mark include a newer process and not an older one", async () => {
  const mark = markPids();
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  await once(child, "spawn");
  expect(isNoneSince(mark)).toBe(false);
  const pids = pidsSince(mark);
  // If PIDs have wrapped around, the result includes older processes.
  if (lastPid() > mark.last) expect(pids).not.toContain(process.pid);
  expect(pids).toContain(child.pid);
  child.kill("SIGKILL");
});

test("the PIDs include all processes once the kernel may have reassigned every PID", () => {
  // This process has a smaller PID than the last one, like a process that was started after a wraparound.
  const last = lastPid() - 1;
  expect(process.pid).not.toBe(last);
  const longAgo = monotonicMs() - HOUR_MS * Math.ceil(pidMax() / 32_768);
  expect(pidsSince({ last, atMs: longAgo })).toContain(process.pid);
  expect(isNoneSince({ last: lastPid(), atMs: longAgo })).toBe(false);
  expect(pidsSince(NO_PIDS)).toContain(process.pid);
});
