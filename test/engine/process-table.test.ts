import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { lastPid } from "../../src/engine/last-pid.ts";
import {
  allPids,
  commandLine,
  environmentOf,
  forEachPid,
  hasProcfs,
  isEnding,
  isSameProcess,
  lockLimit,
  readStat,
} from "../../src/engine/process-table.ts";
import { BASH } from "../fixtures/keepers.ts";
import { eventually } from "../fixtures/shells.ts";

const UNUSED_PID = 2 ** 22 + 1;

async function withChild<T>(
  script: string,
  use: (pid: number) => T | Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const child = spawn(BASH, ["-c", script], {
    env: { PATH: "/usr/bin:/bin", ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  try {
    return await use(child.pid ?? -1);
  } finally {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

test("this process is found with its parent and its start time", () => {
  const stat = readStat(process.pid);
  expect(stat).toMatchObject({ parent: process.ppid });
  expect(stat?.startTime).toMatch(/^\d+$/);
  expect(isSameProcess(process.pid, stat?.startTime ?? "")).toBe(true);
  expect(isSameProcess(process.pid, `${stat?.startTime}1`)).toBe(false);
  expect(allPids()).toContain(process.pid);
  expect(hasProcfs()).toBe(true);
});

test("parentheses, spaces and digits in the name of a process do not shift the other fields", async () => {
  await withChild('printf "a) R 1 2 (" >/proc/self/comm; echo up; read -r', (pid) => {
    expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("a) R 1 2 (\n");
    expect(readStat(pid)).toMatchObject({ parent: process.pid });
    expect(["R", "S"]).toContain(readStat(pid)?.state);
  });
});

test("every query about an unused PID reports that there is no process", () => {
  expect(readStat(UNUSED_PID)).toBeUndefined();
  expect(lockLimit(UNUSED_PID)).toBeUndefined();
  expect(environmentOf(UNUSED_PID)).toEqual([]);
  expect(isSameProcess(UNUSED_PID, "1")).toBe(false);
  expect(commandLine(UNUSED_PID)).toBe("[?]");
});

test("a zombie has ended", async () => {
  // The parent has become a program that never reaps its child.
  await withChild("sleep 300 & echo $!; exec sleep 301", async (pid) => {
    const [child = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    await eventually(() => expect(commandLine(pid)).toBe("sleep 301"));
    // NaN throws. 0 would end the process group of the tests.
    process.kill(Number(child || "NaN"), "SIGKILL");
    await eventually(() => expect(readStat(Number(child))?.state).toBe("Z"));
    expect(readStat(Number(child))).toMatchObject({ hasEnded: true });
    expect(isEnding(Number(child))).toBe(true);
    expect(isSameProcess(Number(child), readStat(Number(child))?.startTime ?? "")).toBe(false);
    expect(commandLine(Number(child))).toMatch(/^\[(sleep|bash)\]$/);
  });
});

// Use many children: with a few, the kernel might have ended all of them before the test checks them.
test.each(["SIGKILL", "SIGTERM"])(
  "a process is ending as soon as it has received a fatal %s",
  async (signal) => {
    await withChild("for i in {1..40}; do sleep 300 & done; echo up; read -r", async (pid) => {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
        .trim()
        .split(" ")
        .map(Number);
      // A child of bash may ignore the signal until it has called exec.
      await eventually(() => expect(children.map(commandLine)).toEqual(Array(40).fill("sleep 300")));
      expect(children.filter(isEnding)).toEqual([]);
      for (const child of children) process.kill(child, signal);
      expect(children.filter((child) => !isEnding(child))).toEqual([]);
    });
  },
);

test("a process whose first thread has ended is still running", async () => {
  const program = `if True:
    import ctypes, os, threading, time
    threading.Thread(target=time.sleep, args=(300,)).start()
    print("up", flush=True)
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)`;
  await withChild(`exec python3 -c '${program}' a b`, async (pid) => {
    await eventually(() => expect(readStat(pid)?.state).toBe("Z"));
    expect(readStat(pid)).toMatchObject({ hasEnded: false });
    expect(isEnding(pid)).toBe(false);
    expect(isSameProcess(pid, readStat(pid)?.startTime ?? "")).toBe(true);
    expect(commandLine(pid)).toMatch(/^\S*python3 -c .* a b$/s);
  });
});

test("a command line is shown as a person would write it", async () => {
  await withChild("echo up; exec sleep 300 ", async (pid) => {
    await eventually(() => expect(commandLine(pid)).toBe("sleep 300"));
  });
});

test("the environment of a process is the one at its start, with complete values", async () => {
  await withChild(
    "echo up; read -r",
    (pid) => {
      expect(environmentOf(pid)).toContain("NAME=a b=c");
      expect(environmentOf(pid)).not.toContain("NAME=a b");
    },
    { NAME: "a b=c" },
  );
});

test("the limit on file locks that is read is the hard limit", async () => {
  await withChild("ulimit -Sx 7; ulimit -Hx 4000; echo up; read -r", (pid) =>
    expect(lockLimit(pid)).toBe("4000"),
  );
  expect(lockLimit("self")).toMatch(/^(unlimited|\d+)$/);
});

test("the last assigned PID changes when a process is forked", async () => {
  const before = lastPid();
  const pid = await withChild("echo up", (child) => child);
  expect(before).toBeGreaterThan(0);
  expect(lastPid()).not.toBe(before);
  expect(pid).toBeGreaterThan(0);
});

test("a scan of many processes visits each of them once, and lets other tasks run in between", async () => {
  const pids = Array.from({ length: 1_000 }, (_, i) => i);
  const seen: number[] = [];
  let otherTasks = 0;
  const ticking = setImmediate(function tick() {
    otherTasks++;
    if (seen.length < pids.length) setImmediate(tick);
  });
  await forEachPid(pids, (pid) => void seen.push(pid));
  clearImmediate(ticking);
  expect(seen).toEqual(pids);
  expect(otherTasks).toBeGreaterThan(2);
});
