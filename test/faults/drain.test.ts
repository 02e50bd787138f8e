import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import { useBareKeepers } from "../fixtures/bare-keeper.ts";
import { isLong } from "../fixtures/long.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();
const bareKeeper = useBareKeepers(directory);

const TURNS = isLong ? 60 : 12;

test.each([
  [TURNS, 4],
  [TURNS, 200_000],
  [TURNS / 2, 5_000_000],
])(
  "%i outputs of %i bytes are complete at exit although a leftover has the pipe open",
  async (runs, size) => {
    const shells = manager();
    const lengths: number[] = [];
    for (let i = 0; i < runs; i++) {
      const shell = await run(shells, `sleep 300 & head -c ${size} /dev/zero`);
      lengths.push(statSync(shell.outputFiles.stdout).size);
      expect(shell.remarks).toEqual([]);
    }
    expect(lengths).toEqual(Array.from({ length: runs }, () => size));
  },
);

test("output that a command prints right before SIGKILL is kept", async () => {
  const shells = manager();
  for (let i = 0; i < TURNS / 2; i++) {
    const shell = await run(shells, "sleep 300 & printf 'last words'; printf 'cry' >&2; kill -9 $$");
    expect(shell.exitCode).toBe(137);
    expect(shell.getAllOutput()).toBe("last words\n[stderr]\ncry");
  }
});

test("a command ends at once, although its leftover keeps printing", async () => {
  const shells = manager();
  const shell = await run(shells, "yes & disown; echo mine >&2; exit 3", { capBytes: 1024 ** 3 });
  expect(shell.exitCode).toBe(3);
  expect(shell.durationMs).toBeLessThan(10_000);
  expect(readFileSync(shell.outputFiles.stderr, "utf8")).toBe("mine\n");
  expect((await shell.kill({ graceMs: 0 })).survivors).toEqual([]);
});

/** The loggers of a shim: all of its children except the command. */
function loggersOf(shimPid: number, commandPid: number): number[] {
  const children = readFileSync(`/proc/${shimPid}/task/${shimPid}/children`, "utf8").trim().split(" ");
  return children.map(Number).filter((pid) => pid !== commandPid);
}

test("a stopped logger is continued, and the output is complete", async () => {
  const shell = await manager().createShell({
    command: "echo up; kill -STOP $$; echo more; exit 5",
    workingDir: "/",
  });
  await shell.waitFor({ pattern: /^up$/ }, 10_000);
  const loggers = loggersOf(shell.started.shimPid, shell.started.commandPid);
  expect(loggers).toHaveLength(2);
  for (const pid of loggers) process.kill(pid, "SIGSTOP");
  await shell.sendSignal("SIGCONT");
  expect(await shell.wait(20_000)).toBe(5);
  expect(shell.getAllOutput()).toBe("up\nmore\n");
  expect(shell.remarks).toEqual([]);
});

let disks: number[] = [];
afterEach(() => {
  for (const disk of disks) closeSync(disk);
  disks = [];
});

/** A shell on a very slow disk: its stdout file is a pipe of 64 KiB that only the test reads. */
async function onSlowDisk(command: string) {
  const keeper = await bareKeeper();
  const shellDir = keeper.shellDir(1);
  const out = join(shellDir, "out");
  mkdirSync(shellDir);
  execFileSync("mkfifo", [out]);
  const disk = openSync(out, constants.O_RDWR | constants.O_NONBLOCK);
  disks.push(disk);
  keeper.child.stdin.write(keeper.env + keeper.slot(1));
  const ready = /^ready 1 (\d+) (\d+) /.exec((await keeper.line()) ?? "")?.map(Number) ?? [];
  const [, shim = Number.NaN, commandPid = Number.NaN] = ready;
  keeper.begin(1, commandPid, command);
  const [logger = Number.NaN] = loggersOf(shim, commandPid);
  await eventually(() => expect(isAlive(commandPid)).toBe(false));
  return { keeper, disk, logger, record: join(shellDir, "record") };
}

function readAll(fd: number): number {
  const buffer = Buffer.alloc(64 * 1024);
  let total = 0;
  try {
    for (;;) total += readSync(fd, buffer);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
  }
  return total;
}

test("the exit is reported only after a logger that is blocked in a write has drained its pipe", async () => {
  const { keeper, disk, logger, record } = await onSlowDisk("head -c 100000 /dev/zero; exit 5");
  // The command is dead. The logger is blocked in write(), so its pipe still holds output.
  await eventually(() => expect(readFileSync(`/proc/${logger}/syscall`, "utf8")).toMatch(/^(1|64) 0x1 /));
  expect(readEndRecord(record).exit).toBe("pending");
  const ended = keeper.line();
  let bytes = 0;
  await eventually(() => {
    bytes += readAll(disk);
    expect(bytes).toBe(100_000);
  });
  expect(await ended).toMatch(/^exit 1 5 - /);
  expect(readEndRecord(record).exit).toMatchObject({ code: 5, unsure: false });
});

test("the wait for a stopped logger has a time limit, and the record says that the limit was reached", async () => {
  const { keeper, logger, record } = await onSlowDisk("head -c 100000 /dev/zero; exit 5");
  // Stop the logger, too: one SIGCONT would leave it blocked in write().
  process.kill(logger, "SIGSTOP");
  expect(await keeper.line()).toMatch(/^exit 1 5 u /);
  expect(readEndRecord(record).exit).toMatchObject({ code: 5, unsure: true });
});
