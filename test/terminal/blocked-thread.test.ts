// The check for a thread that waits for input, applied to a thread that alternately runs and sleeps.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { readsTerminal } from "../../src/terminal/blocked-thread.ts";

const READS = 30_000;

test("a program that repeatedly wakes up is never reported as waiting for input", async () => {
  const program = "setInterval(() => {}, 1); console.log('up')";
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const { pid = 0 } = child;
  const reads = Array.from({ length: READS }, () => readsTerminal(pid, String(pid), () => false));
  expect(reads.filter((read) => read !== undefined)).toEqual([]);
});
