// The host checks from outside whether a session's logger has written everything to disk.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, constants, copyFileSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { drain, Logger } from "../../src/session/logger.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory } = useShells();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

interface RunningLogger {
  readonly logger: Logger;
  readonly child: ChildProcess;
  print(text: string): void;
}

/** Starts a logger as the shim does. If `isSlow`, its output file is a pipe of 64 KiB. */
async function startLogger({
  program = "/bin/cat",
  isSlow = false,
} = {}): Promise<RunningLogger & { readonly disk: number }> {
  const dir = directory();
  const [input, file] = [join(dir, "in"), join(dir, "out")];
  execFileSync("mkfifo", isSlow ? [input, file] : [input]);
  const disk = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
  const pipe = openSync(input, constants.O_RDWR | constants.O_NONBLOCK);
  const child = spawn(program, [], { stdio: [openSync(input, "r"), openSync(file, "a"), "ignore"] });
  const exited = once(child, "exit");
  await once(child, "spawn");
  const logger = new Logger(child.pid ?? -1, file);
  cleanups.push(async () => {
    child.kill("SIGKILL");
    await exited;
    logger.close();
    closeSync(pipe);
    closeSync(disk);
  });
  return { logger, child, disk, print: (text) => writeSync(pipe, text) };
}

test("a logger that waits for input has written everything", async () => {
  const { logger, print } = await startLogger();
  for (let round = 1; round <= 200; round++) {
    print("0123456789");
    expect(await drain(logger)).toBe("idle");
    expect(logger.size).toBe(round * 10);
  }
});

test("drain waits for a logger that sleeps in a write to a slow disk", async () => {
  const { logger, print, disk } = await startLogger({ isSlow: true });
  const bytes = Buffer.alloc(64 * 1024, "x");
  print(bytes.toString());
  await eventually(() => expect(logger.state).toBe("idle"));
  // The pipe is full, so the logger sleeps in its next write.
  print("late");
  await eventually(() => expect(logger.state).toBe("busy"));
  let isDrained = false;
  const drained = drain(logger).then((state) => {
    isDrained = true;
    return state;
  });
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
  expect(isDrained).toBe(false);
  expect(readSync(disk, bytes)).toBe(bytes.length);
  expect(await drained).toBe("idle");
  expect(bytes.toString("latin1", 0, readSync(disk, bytes))).toBe("late");
});

test("drain continues a stopped logger", async () => {
  const { logger, child, print } = await startLogger();
  child.kill("SIGSTOP");
  await eventually(() => expect(logger.state).toBe("stopped"));
  print("0123456789");
  expect(await drain(logger)).toBe("idle");
  expect(logger.size).toBe(10);
});

test("drain reports a logger that has ended", async () => {
  const { logger, child, print } = await startLogger();
  child.kill("SIGKILL");
  await eventually(() => expect(logger.state).toBe("gone"));
  print("lost");
  expect(await drain(logger)).toBe("gone");
});

const isRoot = process.getuid?.() === 0;
test.skipIf(isRoot)(
  isRoot
    ? "a logger with a hidden state (skipped: root sees every state)"
    : "drain is unsure about a logger with a hidden state",
  async () => {
    // The kernel hides the state of a process whose program file its user may not read.
    const program = join(directory(), "cat");
    copyFileSync("/bin/cat", program);
    chmodSync(program, 0o111);
    const { logger, print } = await startLogger({ program });
    await eventually(() => expect(logger.state).toBe("hidden"));
    print("0123456789");
    // drain stops waiting when no new bytes have arrived for a while.
    expect(await drain(logger)).toBe("unsure");
    expect(logger.size).toBe(10);
  },
);
