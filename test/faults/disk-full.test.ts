// Every disk here is a tmpfs of its host's own mount namespace: it is full for nobody else, and goes with it.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { useShells } from "../fixtures/shells.ts";
import {
  CANNOT_MOUNT,
  canMount,
  type Failure,
  onSmallDisk,
  type SpecialHost,
  useSpecialHosts,
} from "../fixtures/special-host.ts";

const { directory } = useShells();
const specialHost = useSpecialHosts();
beforeEach(({ skip }) => skip(!canMount(), CANNOT_MOUNT));

const FULL = /^No shell can be started: no space is left for the state directory .*state\. Free some/;
const SPOOL_FULL = /^spool full: the disk had no space left for the output; the exit code is right/;

async function onDisk(options = "size=1m"): Promise<{ host: SpecialHost; disk: string }> {
  const disk = directory();
  const host = specialHost({ prefix: onSmallDisk(disk, options) });
  await host.manager({ stateRoot: join(disk, "state") });
  return { host, disk };
}

test("a command that fills the disk keeps its exit code, and the result says spool full", async () => {
  const { host } = await onDisk();
  const { id } = await host.start({ command: "trap '' PIPE; head -c 4M /dev/zero 2>/dev/null; exit 7" });
  const ended = await host.wait(id);
  expect(ended).toMatchObject({ status: "failed", exitCode: 7, signal: null });
  expect(ended.remarks).toEqual([expect.stringMatching(SPOOL_FULL)]);
});

test("a command that dies of the full disk is ended by SIGPIPE, and the result says why", async () => {
  const { host } = await onDisk();
  const { id } = await host.start({ command: "yes" });
  const ended = await host.wait(id);
  expect(ended).toMatchObject({ status: "failed", exitCode: 141, signal: "SIGPIPE" });
  expect(ended.remarks).toEqual([expect.stringMatching(SPOOL_FULL)]);
});

test("a command that runs while the disk is full for another reason keeps its exit code", async () => {
  const { host, disk } = await onDisk();
  const fifo = join(directory(), "go");
  execFileSync("mkfifo", [fifo]);
  const { id, files } = await host.start({ command: `echo before; read -r < ${fifo}; exit 5` });
  await host.ask("waitForLine", { id, line: "^before$" });
  await host.ask("fillDisk", { path: join(disk, "filler") });
  execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]);
  expect(await host.wait(id)).toMatchObject({ status: "failed", exitCode: 5, remarks: [] });
  expect(await host.ask("output", { id })).toBe("before\n");
  expect(await host.ask<string>("read", { path: files.record })).toMatch(/^X 5 - 7 0 /);
});

test("a kill on a full disk is recorded as a kill", async () => {
  const { host, disk } = await onDisk();
  const { id, files } = await host.start({ command: "echo up; sleep 300" });
  await host.ask("waitForLine", { id, line: "^up$" });
  await host.ask("fillDisk", { path: join(disk, "filler") });
  expect(await host.ask("kill", { id })).toMatchObject({ survivors: [] });
  expect(await host.look(id)).toMatchObject({ status: "killed", exitCode: 137 });
  expect(await host.ask<string>("read", { path: files.record })).toMatch(/^X 137 .*\nC killed kill\(\)/);
});

test("a start on a full disk is a clear error, and works again when there is room", async () => {
  const { host, disk } = await onDisk();
  const filler = join(disk, "filler");
  const { id } = await host.start({ command: "exit 1" });
  await host.wait(id);
  await host.ask("fillDisk", { path: filler });
  // More often than there are shells waiting for a job: those were made while there was room.
  for (let i = 0; i < 5; i++) {
    // Each refused start gives back what its slot had taken.
    await host.ask("fillDisk", { path: `${filler}${i}` });
    const refused = await host.refusedStart({ command: "echo never" });
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(FULL);
  }
  for (const name of ["", 0, 1, 2, 3, 4]) await host.ask("removeFile", { path: `${filler}${name}` });
  const { id: again } = await host.start({ command: "exit 2" });
  expect(await host.wait(again)).toMatchObject({ exitCode: 2, remarks: [] });
});

test("a first start on a disk that is full already is a clear error", async () => {
  const { host, disk } = await onDisk();
  const filler = join(disk, "filler");
  await host.ask("fillDisk", { path: filler });
  const refused = await host.refusedStart({ command: "true" });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toMatch(/no space/i);
  await host.ask("removeFile", { path: filler });
  const { id } = await host.start({ command: "exit 4" });
  expect(await host.wait(id)).toMatchObject({ exitCode: 4 });
});

test("a disk that is out of inodes refuses every start clearly, and none hangs", async () => {
  const { host } = await onDisk("size=1m,nr_inodes=20");
  const refusals: Failure[] = [];
  // Each shell that does start leaves files behind, so the inodes run out soon.
  for (let i = 0; i < 10; i++) {
    await host.refusedStart({ command: "true" }).then(
      (refused) => refusals.push(refused),
      () => {},
    );
  }
  expect(refusals.length).toBeGreaterThan(5);
  for (const refused of refusals) {
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(/space/);
  }
});

test("a host on a full disk leaves by itself", async () => {
  const { host, disk } = await onDisk();
  await host.ask("fillDisk", { path: join(disk, "filler") });
  await host.refusedStart({ command: "true" });
  expect(await host.leave()).toBe(0);
});
