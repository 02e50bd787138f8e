import { cpSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readStartedShell } from "../../src/engine/attach.ts";
import { Engine } from "../../src/engine/engine.ts";
import { readMeta, writeMeta } from "../../src/engine/meta.ts";
import { readStat } from "../../src/engine/process-table.ts";
import { type ShellFiles, StateRoot } from "../../src/engine/state-dir.ts";
import { adoptShells } from "../../src/shell/adopt.ts";
import { killWithKeeper, useDurables } from "../fixtures/durable.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const durables = useDurables(shells);

async function adoptedIds(path: string): Promise<string[]> {
  const root = new StateRoot(path);
  const { adopted, complete } = await adoptShells(new Engine({ root, environment: {} }), root);
  expect(complete).toBe(true);
  return adopted.map(({ id }) => id);
}

/** An ended shell of a dead host, and the links that name its owners. */
async function endedShell(path: string, durable: boolean): Promise<{ id: string; owners: () => string[] }> {
  const host = await durables.host(path);
  const { id, files } = await host.start({ command: "exit 1", durable });
  await host.wait(id);
  await host.kill();
  const links = () => readdirSync(files.dir).filter((name) => name.startsWith("owner."));
  return { id, owners: () => links().map((name) => readlinkSync(join(files.dir, name))) };
}

test("a missing root has no shells to adopt", async () => {
  expect(await adoptedIds(join(shells.directory(), "missing"))).toEqual([]);
});

test("an ended durable shell is adopted only once", async () => {
  const path = durables.root();
  const { id, owners } = await endedShell(path, true);
  expect(await adoptedIds(path)).toEqual([id]);
  expect(owners()).toEqual([`${process.pid} ${readStat(process.pid)?.startTime} over`]);
  expect(await adoptedIds(path)).toEqual([]);
  expect(owners()).toHaveLength(1);
});

test("an ended shell that is not durable is not adopted", async () => {
  const path = durables.root();
  const { owners } = await endedShell(path, false);
  expect(await adoptedIds(path)).toEqual([]);
  expect(owners()).toEqual([]);
});

test("a running durable shell is adopted from a dead holder, but not from a live holder", async () => {
  const path = durables.root();
  const marks = new Mark();
  const starter = await durables.host(path);
  const { id, files } = await starter.start({ command: `exec sleep ${marks.next()}`, durable: true });
  expect(await adoptedIds(path)).toEqual([]);
  await starter.kill();
  // Simulate a dead holder: it has the PID of this process, but another start time.
  symlinkSync(`${process.pid} 1`, join(files.dir, "owner.1"));
  expect(await adoptedIds(path)).toEqual([id]);
  expect(await adoptedIds(path)).toEqual([]);
  // bash may not have called exec yet.
  await eventually(() => expect(marks.processes()).toHaveLength(1));
});

test("the removal of a directory during the check affects no other shell", async () => {
  const path = durables.root();
  const { id } = await endedShell(path, true);
  const vanishing = "shell_00000000";
  /** The directory of one shell disappears after its files were read. */
  class VanishingRoot extends StateRoot {
    override files(wanted: string): ShellFiles {
      const files = super.files(wanted);
      return wanted === vanishing ? { ...files, dir: join(path, "gone") } : files;
    }
  }
  const root = new VanishingRoot(path);
  const { files } = readStartedShell(root, id) ?? expect.unreachable();
  cpSync(files.dir, join(root.shellsDir, vanishing), { recursive: true });
  const meta = readMeta(files.meta) ?? expect.unreachable();
  writeMeta(root.files(vanishing).meta, { ...meta, id: vanishing });
  expect(readStartedShell(root, vanishing)?.id).toBe(vanishing);
  const { adopted } = await adoptShells(new Engine({ root, environment: {} }), root);
  expect(adopted.map((shell) => shell.id)).toEqual([id]);
});

test("an adoption ends the leftovers of an ended shell, and the shell keeps its exit code", async () => {
  const path = durables.root();
  const marks = new Mark();
  const host = await durables.host(path);
  const { id } = await host.start({ command: `setsid sleep ${marks.next()} & exit 5`, durable: true });
  await host.wait(id);
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  await killWithKeeper(host, path);
  expect(marks.processes()).toHaveLength(1);
  const manager = durables.manager(path);
  const [shell] = await manager.adopt();
  expect(marks.processes()).toEqual([]);
  expect(shell?.exitCode).toBe(5);
});
