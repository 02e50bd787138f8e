// The deputy watches the shells while no keeper runs. In these tests the host is alive.
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deputyPids, isWaiting, keeperPid, Mark, processesWith } from "../fixtures/marked.ts";
import { isAlive, stateOf } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();

async function onlyDeputy(root: string): Promise<number> {
  return await eventually(() => {
    const [deputy = -1, ...others] = deputyPids(root);
    expect(others).toEqual([]);
    expect(isWaiting(deputy)).toBe(true);
    return deputy;
  });
}

test("a deputy sleeps until its keeper is dead, and no other process has the pipe between them open", async () => {
  const shells = manager();
  const root = shells.root.path;
  const shell = await shells.createShell({ command: "echo up; sleep 300", workingDir: tmpdir() });
  await shell.waitFor({ pattern: /^up$/ }, 20_000);
  await shells.session("s", { workingDir: tmpdir() }).run("sleep 300 & echo up");
  const [deputy, keeper] = [await onlyDeputy(root), keeperPid(root)];
  expect(stateOf(deputy)).toBe("S");
  const lifeline = readlinkSync(`/proc/${deputy}/fd/3`);
  const watched = join(readlinkSync(`/proc/${deputy}/fd/0`));
  expect(lifeline).toMatch(/^socket:/);
  await eventually(() => {
    const holders = readdirSync("/proc").filter((pid) => {
      const open = openFiles(pid);
      return open.includes(lifeline) || open.includes(watched);
    });
    expect(holders.map(Number).sort()).toEqual([keeper, deputy].sort());
  });
});

test("a deputy that is killed is replaced at the next start", async () => {
  const shells = manager({ poolSize: 0 });
  const root = shells.root.path;
  await run(shells, "true");
  const first = await onlyDeputy(root);
  process.kill(first, "SIGKILL");
  await eventually(() => expect(isAlive(first)).toBe(false));
  expect((await run(shells, "echo on")).getAllOutput()).toBe("on\n");
  expect(await onlyDeputy(root)).not.toBe(first);
});

test("the deputy of a killed keeper ends no shell, and exits once the next keeper serves requests", async () => {
  const shells = manager();
  const root = shells.root.path;
  const go = join(directory(), "go");
  const shell = await shells.createShell({
    command: `until [[ -e ${go} ]]; do sleep 0.02; done; exit 7`,
    workingDir: tmpdir(),
  });
  const [deputy, keeper] = [await onlyDeputy(root), keeperPid(root)];
  process.kill(keeper, "SIGKILL");
  await eventually(() => expect(isAlive(deputy)).toBe(false));
  await eventually(() => expect(keeperPid(root)).not.toBe(keeper));
  expect(await onlyDeputy(root)).not.toBe(deputy);
  expect(shell.status).toBe("running");
  writeFileSync(go, "");
  expect(await shell.wait(20_000)).toBe(7);
});

test("a manager that is disposed of while its keeper is dead leaves no process", async () => {
  const shells = manager();
  const root = shells.root.path;
  const marks = new Mark();
  const shell = await shells.createShell({
    command: `setsid sleep ${marks.next()} & echo up; exit 3`,
    workingDir: tmpdir(),
  });
  await shell.wait(20_000);
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  process.kill(keeperPid(root), "SIGKILL");
  await shells.dispose();
  await eventually(() => expect(marks.processes()).toEqual([]));
  await eventually(() => expect(processesWith(`${root}/`)).toEqual([]));
});

test("the deputy exits when its manager is disposed of", async () => {
  const shells = manager();
  await run(shells, "true");
  const deputy = await onlyDeputy(shells.root.path);
  await shells.dispose();
  await eventually(() => expect(isAlive(deputy)).toBe(false));
  await eventually(() => expect(readdirSync(shells.root.keepersDir)).toEqual([]));
});

function openFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}
