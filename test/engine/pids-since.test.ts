import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { lastPid, pidMax } from "../../src/engine/last-pid.ts";
import { isNoneSince, markPids, NO_PIDS, pidsSince } from "../../src/engine/pids-since.ts";
import { monotonicMs } from "../../src/support/clock.ts";

const HOUR_MS = 3_600_000;

test("a process that started since is among them, an older one is not", async () => {
  const mark = markPids();
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  await once(child, "spawn");
  expect(isNoneSince(mark)).toBe(false);
  const pids = pidsSince(mark);
  // Unless pids have just begun anew.
  if (lastPid() > mark.last) expect(pids).not.toContain(process.pid);
  expect(pids).toContain(child.pid);
  child.kill("SIGKILL");
});

test("after so long that the kernel may have reassigned every PID, all processes are", () => {
  // This process has a smaller pid than the one given out last: as one that was started after they had begun anew.
  const last = lastPid() - 1;
  expect(process.pid).not.toBe(last);
  const longAgo = monotonicMs() - HOUR_MS * Math.ceil(pidMax() / 32_768);
  expect(pidsSince({ last, atMs: longAgo })).toContain(process.pid);
  expect(isNoneSince({ last: lastPid(), atMs: longAgo })).toBe(false);
  expect(pidsSince(NO_PIDS)).toContain(process.pid);
});
