import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { expect, test } from "vitest";
import { preallocateEndRecord, readEndRecord, writeCause } from "../../src/engine/end-record.ts";
import { NO_PIDS } from "../../src/engine/pids-since.ts";
import { readStat } from "../../src/engine/process-table.ts";
import type { StartedShell } from "../../src/engine/started-shell.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { bashRecord } from "../../src/session/detached-bash.ts";
import { ShellLife } from "../../src/shell/shell-life.ts";
import { useDirectories } from "../fixtures/directories.ts";
import { metaOf } from "../fixtures/metas.ts";

const directory = useDirectories();
const DEAD = { shimPid: 4_194_305, shimStart: "1" };
const ALIVE = { shimPid: process.pid, shimStart: readStat(process.pid)?.startTime ?? "" };
const exitPart = (fields: string) => `X ${fields.padEnd(124)}.\n`;

function life(shell: Partial<StartedShell> = {}) {
  const root = new StateRoot(directory());
  const files = root.files("shell_00000001");
  mkdirSync(files.dir, { recursive: true });
  preallocateEndRecord(files.record);
  const started: StartedShell = {
    id: "shell_00000001",
    files,
    meta: metaOf({ startedUptimeMs: Math.round(uptime() * 1000) - 60_000, durable: true }),
    ...ALIVE,
    commandPid: 0,
    commandStart: "",
    tag: undefined,
    pidsBefore: NO_PIDS,
    attached: true,
    ...shell,
  };
  const ends: number[] = [];
  const tested = new ShellLife(started, () => ends.push(1));
  /** Overwrites the first half of the record, like the shim. */
  const end = (fields: string) => {
    const text = readFileSync(files.record, "latin1");
    writeFileSync(files.record, exitPart(fields) + text.slice(128));
  };
  return { life: tested, files, meta: started.meta, ends, end };
}

test("a shell runs while its shim lives and its exit is not recorded", () => {
  const { life: shell, ends } = life();
  expect(shell.outcome).toBeUndefined();
  expect(shell.record).toBeUndefined();
  expect(shell.completedAt).toBeNull();
  expect(ends).toEqual([]);
});

test("a found shell has ended as soon as its exit is recorded, even if its shim still lives", async () => {
  const { life: shell, end, ends } = life();
  end("7 - 3 0 1.00");
  expect(shell.outcome).toEqual({ kind: "exited", code: 7 });
  expect(shell.record).toMatchObject({ code: 7, stdoutBytes: 3 });
  expect(await shell.ended).toEqual({ kind: "exited", code: 7 });
  expect(shell.outcome).toEqual({ kind: "exited", code: 7 });
  expect(ends).toEqual([1]);
});

test("a shell that this host started has ended when its shim reports the end or is dead", () => {
  const { life: shell, end } = life({ attached: false });
  end("7 - 3 0 1.00");
  expect(shell.outcome).toBeUndefined();
  const { exit } = readEndRecord(life().files.record);
  expect(exit).toBe("pending");
  const dead = life({ attached: false, ...DEAD });
  dead.end("7 - 3 0 1.00");
  expect(dead.life.outcome).toEqual({ kind: "exited", code: 7 });
});

test("a shell whose shim is dead without a record is lost", () => {
  const { life: shell } = life(DEAD);
  expect(shell.outcome).toMatchObject({ kind: "lost" });
  expect(shell.record).toBeUndefined();
});

test("a shell that cannot be seen is lost for the given reason, unless its exit is recorded", () => {
  const unseen = "the machine has been restarted since";
  expect(life({ unseen }).life.outcome).toEqual({ kind: "lost", reason: unseen });
  const ended = life({ unseen });
  ended.end("0 - 0 0 1.00");
  expect(ended.life.outcome).toEqual({ kind: "exited", code: 0 });
});

test("a shell with a corrupt record runs while its shim lives, and is lost when its shim is dead", () => {
  const alive = life();
  writeFileSync(alive.files.record, "garbage");
  expect(alive.life.outcome).toBeUndefined();
  const dead = life(DEAD);
  writeFileSync(dead.files.record, "garbage");
  expect(dead.life.outcome).toMatchObject({ kind: "lost" });
});

test("a cause is on disk before the end, and the first cause wins, even if another process wrote it", () => {
  const { life: shell, files, end } = life();
  writeCause(files.record, { kind: "killed", detail: "another process" });
  shell.giveCause({ kind: "timeout", detail: "5" });
  end("137 - 0 0 1.00");
  expect(shell.outcome).toEqual({ kind: "killed", by: "another process", code: 137 });
});

test("a cause after the end is ignored", () => {
  const { life: shell, files, end } = life();
  end("0 - 0 0 1.00");
  shell.giveCause({ kind: "killed", detail: "too late" });
  expect(readEndRecord(files.record).cause).toBeUndefined();
  expect(shell.outcome).toEqual({ kind: "exited", code: 0 });
});

test("a cause that cannot be written is kept in memory", () => {
  const { life: shell, files } = life({ attached: false });
  rmSync(files.dir, { recursive: true });
  shell.giveCause({ kind: "killed", detail: "us" });
  shell.conclude(bashRecord({ exitCode: 137 }));
  expect(shell.outcome).toEqual({ kind: "killed", by: "us", code: 137 });
});

test("the duration of a found shell is the time from its start to its record", () => {
  const running = life();
  expect(running.life.durationMs).toBeGreaterThanOrEqual(60_000);
  const { life: shell, files, meta, end } = life();
  end(`0 - 0 0 ${((meta.startedUptimeMs + 12_340) / 1000).toFixed(2)}`);
  const at = new Date("2020-02-02T02:02:02Z");
  utimesSync(files.record, at, at);
  expect(shell.completedAt).toBe(at.getTime());
  expect(Math.abs(shell.durationMs - 12_340)).toBeLessThanOrEqual(10);
});
