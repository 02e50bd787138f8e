import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bootId, isSameProcess, pidNamespace, readStat } from "../../src/engine/process-table.ts";
import { StateRoot } from "../../src/engine/state-dir.ts";
import { removeAbandonedKeepers } from "../../src/shell/abandoned-keepers.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { directory, manager, run } = useShells();
const GONE = 4_194_305;
const OWN_START = readStat(process.pid)?.startTime ?? "";

function rootWithKeeper(name: string, identity: string): { root: StateRoot; dir: string } {
  const root = new StateRoot(join(directory(), "state"));
  root.ensure();
  const dir = join(root.keepersDir, name);
  mkdirSync(dir);
  writeFileSync(join(dir, "identity"), identity);
  return { root, dir };
}

test.each([
  ["is dead, with its host", `${GONE}-aaaaaaaa`, `${GONE} 1 ${bootId()} ${pidNamespace()}\n`, false],
  [
    "ran in another boot",
    `${process.pid}-aaaaaaaa`,
    `${process.pid} ${OWN_START} another ${pidNamespace()}\n`,
    false,
  ],
  ["lives", `${GONE}-aaaaaaaa`, `${process.pid} ${OWN_START} ${bootId()} ${pidNamespace()}\n`, true],
  [
    "is dead while its host lives",
    `${process.pid}-aaaaaaaa`,
    `${GONE} 1 ${bootId()} ${pidNamespace()}\n`,
    true,
  ],
  ["is of another namespace", `${GONE}-aaaaaaaa`, `${GONE} 1 ${bootId()} 1\n`, true],
  ["has not written its identity", `${GONE}-aaaaaaaa`, "", true],
])("the directory of a keeper that %s is removed or kept correctly (%#)", (_, name, identity, stays) => {
  const { root, dir } = rootWithKeeper(name, identity);
  removeAbandonedKeepers(root);
  expect(existsSync(dir)).toBe(stays);
});

test("the directory of a dead keeper stays while a shim of its host lives", async () => {
  const shells = manager();
  const shell = await shells.createShell({ command: "sleep 300", workingDir: "/" });
  const { shimPid, shimStart, files } = shell.started;
  const { root, dir } = rootWithKeeper(`${GONE}-aaaaaaaa`, `${GONE} 1 ${bootId()} ${pidNamespace()}\n`);
  const copy = root.files(shell.id);
  mkdirSync(copy.dir);
  writeFileSync(copy.identity, readFileSync(files.identity));
  writeFileSync(copy.meta, readFileSync(files.meta, "utf8").replace(`"pid":${process.pid}`, `"pid":${GONE}`));
  removeAbandonedKeepers(root);
  expect(existsSync(dir)).toBe(true);
  await shell.kill({ graceMs: 0 });
  // Compare PID and start time: another process can have reused the PID.
  await eventually(() => expect(isSameProcess(shimPid, shimStart)).toBe(false), 20_000);
  removeAbandonedKeepers(root);
  expect(existsSync(dir)).toBe(false);
});

test("a state root without keepers is left unchanged", async () => {
  removeAbandonedKeepers(new StateRoot(join(directory(), "missing")));
  const shells = manager();
  const { id } = await run(shells, "true");
  removeAbandonedKeepers(shells.root);
  expect(readdirSync(shells.root.shellsDir)).toContain(id);
  expect(readdirSync(shells.root.keepersDir)).toHaveLength(1);
});
