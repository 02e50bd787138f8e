// State roots with odd names work. An unusable state root causes a clear error, never a crash or a hang.
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { killWithKeeper, useDurables } from "../fixtures/durable.ts";
import { Mark, processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import {
  CANNOT_MOUNT,
  canMount,
  giveAway,
  isRoot,
  onSmallDisk,
  unprivileged,
} from "../fixtures/special-host.ts";

const shells = useShells();
const durables = useDurables(shells);

const NAMES = ["with spaces and 'quotes'", "naïve-漢字-🐚", "[glob]*?$HOME", "new\nline"];

test("in state roots with odd names, durable shells are adopted and orphans are ended", async () => {
  await Promise.all(
    NAMES.map(async (name) => {
      const root = join(durables.root(), name);
      const marks = new Mark();
      const go = join(shells.directory(), "go");
      const host = await durables.host(root);
      const { id } = await host.start({
        command: `until [[ -e ${go} ]]; do sleep 0.02; done; echo done; exit 4`,
        durable: true,
      });
      const orphan = await host.start({ command: `echo up; sleep ${marks.next()}` });
      await host.ask("waitForLine", { id: orphan.id, line: "^up$" });
      await host.kill();
      await eventually(() => expect(marks.processes(), name).toEqual([]));
      const [shell] = await durables.manager(root).adopt();
      expect(shell?.id, name).toBe(id);
      writeFileSync(go, "");
      expect(await shell?.wait(20_000), name).toBe(4);
      expect(shell?.getAllOutput(), name).toBe("done\n");
      await eventually(() => expect(readdirSync(join(root, "keepers")), name).toEqual([]));
    }),
  );
});

test("a shell that never started leaves no process if its state root is a symbolic link", async () => {
  const [real, link] = [durables.root(), join(shells.directory(), "link")];
  mkdirSync(real);
  symlinkSync(real, link);
  const host = await durables.host(link);
  await host.wait((await host.start({ command: "true" })).id);
  await host.ask("dieAt", { point: "after meta" });
  await host.dieOf("start", { options: { command: "echo never", workingDir: "/", durable: true } });
  const manager = durables.manager(link);
  await manager.adopt();
  const shell = () => manager.findAll().find(({ command }) => command === "echo never");
  await eventually(() => expect(shell()?.outcome).toMatchObject({ kind: "failedToStart" }));
  await eventually(() => expect(processesWith(`${link}/`)).toEqual([]));
});

test("a missing state root contains no shells, and the first start creates it", async () => {
  const manager = durables.manager(join(durables.root(), "not", "yet"));
  expect(await manager.adopt()).toEqual([]);
  expect(manager.findAll()).toEqual([]);
  expect(manager.getShell("shell_00000000")).toBeUndefined();
  expect((await shells.run(manager, "exit 2", { durable: true })).exitCode).toBe(2);
});

test("a state root that is a file causes a clear error at a start, and contains no shells", async () => {
  const file = join(shells.directory(), "file");
  writeFileSync(file, "");
  const manager = shells.manager({ stateRoot: file });
  expect(await manager.adopt()).toEqual([]);
  expect(manager.findAll()).toEqual([]);
  await expect(shells.run(manager, "true", { durable: true })).rejects.toMatchObject({
    code: "spawn_failed",
    message: expect.stringContaining(`The state directory ${file} cannot be used: `),
  });
});

test("a state root of another user causes a clear error at a start, and its shells are not touched", async () => {
  const dir = shells.directory();
  const marks = new Mark();
  const root = join(dir, "state");
  if (!isRoot) {
    // Only root can create a directory for another user: use a system directory.
    const refused = shells.run(shells.manager({ stateRoot: "/usr" }), "true", { durable: true });
    await expect(refused).rejects.toThrow("/usr cannot be used: it belongs to another user (uid 0)");
    return;
  }
  chmodSync(dir, 0o755);
  const owner = await durables.host(root);
  const { id } = await owner.start({ command: `echo up; sleep ${marks.next()}`, durable: true });
  await owner.ask("waitForLine", { id, line: "^up$" });
  await killWithKeeper(owner, root);
  const stranger = await durables.host(root, { prefix: unprivileged });
  expect(await stranger.ask("adopt")).toEqual([]);
  const refused = await stranger.refusedStart({ command: "true", durable: true });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toContain(
    `The state directory ${root} cannot be used: it belongs to another user (uid 0)`,
  );
  expect(marks.processes()).toHaveLength(1);
  const manager = durables.manager(root);
  const [shell] = await manager.adopt();
  expect((await shell?.kill({ graceMs: 0 }))?.survivors).toEqual([]);
});

test("a state root that its owner may not write to causes a clear error at a start", async () => {
  const dir = giveAway(shells.directory());
  const root = join(dir, "state");
  mkdirSync(root);
  if (isRoot) chownSync(root, 54_321, 54_321);
  chmodSync(root, 0o500);
  const host = await durables.host(root, { prefix: unprivileged });
  expect(await host.ask("adopt")).toEqual([]);
  const refused = await host.refusedStart({ command: "true", durable: true });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toContain(`The state directory ${root} cannot be used: `);
  chmodSync(root, 0o700);
});

test("a state root on a read-only disk causes a clear error at a start, and no shell there is adopted", async ({
  skip,
}) => {
  skip(!canMount(), CANNOT_MOUNT);
  const disk = shells.directory();
  const host = await durables.host(join(disk, "state"), { prefix: onSmallDisk(disk, "ro,size=1m") });
  expect(await host.ask("adopt")).toEqual([]);
  const refused = await host.refusedStart({ command: "true", durable: true });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toMatch(/state cannot be used: .*read-only/i);
});
