// Whether a thread waits for input, read while the thread runs and sleeps in turn.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { readsTerminal } from "../../src/terminal/blocked-thread.ts";

const READS = 30_000;

test("a program that wakes up again and again is never reported as one that may wait for input", async () => {
  const program = "setInterval(() => {}, 1); console.log('up')";
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const { pid = 0 } = child;
  const reads = Array.from({ length: READS }, () => readsTerminal(pid, String(pid), () => false));
  expect(reads.filter((read) => read !== undefined)).toEqual([]);
});
