import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { openPipe } from "../../src/engine/process-pipe.ts";
import { childrenOf, readStat } from "../../src/engine/process-table.ts";
import { eventually } from "../fixtures/shells.ts";

test("the pipe of an ended process is gone, even if the process has not been reaped", async () => {
  // bash replaces itself with a program that never waits for bash's child.
  const parent = spawn("bash", ["-c", "sleep 301 & exec sleep 300"]);
  onTestFinished(() => {
    parent.kill("SIGKILL");
  });
  const ended = await eventually(() => {
    const [child] = childrenOf(parent.pid ?? -1);
    if (child === undefined || readStat(parent.pid ?? -1)?.name !== "sleep") throw new Error("not ready yet");
    return child;
  });
  process.kill(ended, "SIGKILL");
  await eventually(() => expect(readStat(ended)?.hasEnded).toBe(true));
  const startTime = readStat(ended)?.startTime ?? "";
  expect(openPipe({ pid: ended, startTime }, 6, "write")).toBeUndefined();
});
