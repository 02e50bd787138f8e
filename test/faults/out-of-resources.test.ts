import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ShellManagerOptions } from "../../src/shell/manager-options.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";
import {
  giveAway,
  limitProcesses,
  type SpecialHost,
  unprivileged,
  useSpecialHosts,
} from "../fixtures/special-host.ts";

const { directory } = useShells();
const specialHost = useSpecialHosts();

const FEW_FILES = ["bash", "-c", 'ulimit -n 256; exec "$@"', "bash"];

async function withFewFiles(): Promise<SpecialHost> {
  const host = specialHost({ prefix: FEW_FILES });
  await host.manager({ stateRoot: directory() });
  return host;
}

async function withoutPrivileges(options: ShellManagerOptions = {}): Promise<SpecialHost> {
  const host = specialHost({ prefix: unprivileged });
  await host.manager({ stateRoot: join(giveAway(directory()), "state"), ...options });
  return host;
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]);
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return children === "" ? [] : children.split(" ").map(Number);
}

/** The target of a descriptor's link; empty if the descriptor was closed in the meantime. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

async function expectToWork(host: SpecialHost): Promise<void> {
  const { id } = await host.start({ command: "echo well; exit 9" });
  expect(await host.wait(id)).toMatchObject({ status: "failed", exitCode: 9, remarks: [] });
  expect(await host.ask("output", { id })).toBe("well\n");
}

// --- file descriptors ---------------------------------------------------------------------------

test("a first start without a free file descriptor reports the limit, and works once one is free", async () => {
  const host = await withFewFiles();
  expect(await host.ask("takeDescriptors")).toMatchObject({ code: "EMFILE" });
  const refused = await host.refusedStart({ command: "true" });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toMatch(/too many (open files|files open)/);
  await host.ask("letGo");
  await expectToWork(host);
});

test("a later start without a free file descriptor reports the limit, and works once one is free", async () => {
  const host = await withFewFiles();
  await expectToWork(host);
  await host.ask("takeDescriptors");
  for (let i = 0; i < 4; i++) {
    const refused = await host.refusedStart({ command: "true" });
    expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
    expect(refused.message).toMatch(/too many (open files|files open)/);
  }
  await host.ask("letGo");
  await expectToWork(host);
});

test("a host out of file descriptors does not report its running shells as lost", async () => {
  const host = await withFewFiles();
  const fifo = join(directory(), "go");
  execFileSync("mkfifo", [fifo]);
  const { id, commandPid } = await host.start({ command: `echo up; read -r < ${fifo}; exit 6` });
  await host.ask("waitForLine", { id, line: "^up$" });
  await host.ask("takeDescriptors");
  expect(await host.look(id)).toMatchObject({ status: "running", exitCode: null });
  await host.ask("letGo");
  expect(isAlive(commandPid)).toBe(true);
  execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]);
  expect(await host.wait(id)).toMatchObject({ status: "failed", exitCode: 6 });
});

test("a shell that ends while its host is out of file descriptors keeps its exit code", async () => {
  const host = await withFewFiles();
  const fifo = join(directory(), "go");
  execFileSync("mkfifo", [fifo]);
  const { id, shimPid } = await host.start({ command: `echo up; read -r < ${fifo}; exit 6` });
  await host.ask("waitForLine", { id, line: "^up$" });
  await host.ask("takeDescriptors");
  execFileSync("bash", ["--norc", "-c", `echo > ${fifo}`]);
  await eventually(() => expect(isAlive(shimPid)).toBe(false));
  await host.ask("letGo");
  expect(await host.wait(id)).toMatchObject({ status: "failed", exitCode: 6 });
});

test("60 shells run with a limit of 256 open files, because a shell needs no descriptor in its host", async () => {
  const host = await withFewFiles();
  const before = readdirSync(`/proc/${host.pid}/fd`).length;
  const started = [];
  for (let i = 0; i < 60; i++) started.push(await host.start({ command: "exec sleep 300" }));
  expect(readdirSync(`/proc/${host.pid}/fd`).length - before).toBeLessThanOrEqual(16);
  expect(started.filter(({ commandPid }) => isAlive(commandPid))).toHaveLength(60);
  await host.ask("dispose");
  expect(started.filter(({ commandPid }) => isAlive(commandPid))).toEqual([]);
});

test.each([
  ["3 to 300", [3, 7, 10, 40, 63, 200, 251, 300]],
  ["253 to 255, where bash keeps its script", [253, 254, 255]],
])("descriptors that the host left open, %s, reach no process of a shell", async (_, leaks) => {
  const open = leaks.map((fd) => `${fd}</dev/zero`).join(" ");
  const host = specialHost({ prefix: ["bash", "-c", `exec ${open}; exec "$@"`, "bash"] });
  await host.manager({ stateRoot: directory() });
  const leaked = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`).filter((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === "/dev/zero");
  expect(leaked(host.pid)).toEqual(expect.arrayContaining(leaks.map(String).slice(-3)));

  const one = await host.start({ command: "exec sleep 300" });
  const two = await host.start({ command: "sleep 300 & echo up; wait" });
  await host.ask("waitForLine", { id: two.id, line: "^up$" });
  const family = {
    keeper: [parentOf(one.shimPid)],
    shims: [one.shimPid, two.shimPid],
    loggersAndCommands: [one.shimPid, two.shimPid].flatMap(childrenOf),
    children: childrenOf(two.commandPid),
  };
  expect(family).toMatchObject({ loggersAndCommands: { length: 6 }, children: { length: 1 } });
  expect(Object.entries(family).map(([name, pids]) => [name, pids.flatMap(leaked)])).toEqual(
    Object.keys(family).map((name) => [name, []]),
  );
  const listing = await host.start({ command: "ls /proc/self/fd" });
  await host.wait(listing.id);
  expect(await host.ask("output", { id: listing.id })).toBe("0\n1\n2\n3\n");
});

// --- processes ----------------------------------------------------------------------------------

test("a start fails clearly if the keeper cannot be forked, and works once processes are free", async () => {
  const host = await withoutPrivileges();
  // With a limit below the current number of processes, no fork of this host succeeds.
  await host.ready();
  limitProcesses(host.pid, 1);
  const refused = await host.refusedStart({ command: "true" });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toMatch(/limit on processes is reached \(ulimit -u/);
  limitProcesses(host.pid, "most");
  await expectToWork(host);
});

test("a start that waits for a free process succeeds if the limit rises in time", async () => {
  const host = await withoutPrivileges();
  await host.ready();
  limitProcesses(host.pid, 1);
  const starting = host.start({ command: "exit 4" });
  limitProcesses(host.pid, "most");
  expect(await host.wait((await starting).id)).toMatchObject({ exitCode: 4 });
});

test("a start fails clearly if the keeper cannot fork, and works once it can", {
  timeout: 90_000,
}, async () => {
  // Use no slots, so that every start needs a fork.
  const host = await withoutPrivileges({ poolSize: 0 });
  const { id, shimPid, commandPid } = await host.start({ command: "exec sleep 300" });
  const keeper = parentOf(shimPid);
  limitProcesses(keeper, 1);
  const refused = await host.refusedStart({ command: "true" });
  expect(refused).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  expect(refused.message).toMatch(/out of processes|limit on processes/);
  if (isAlive(keeper)) limitProcesses(keeper, "most");
  expect(isAlive(commandPid)).toBe(true);
  expect(await host.look(id)).toMatchObject({ status: "running" });
  await expectToWork(host);
});

// --- pipes --------------------------------------------------------------------------------------

test("a job larger than a small pipe reaches its command even after the user's pipe pages are used up", async () => {
  const host = await withoutPrivileges();
  const dir = directory();
  // If a user's pipes exceed pipe-user-pages-soft, new pipes have room for 8 KiB instead of 64.
  const pages = Number(readFileSync("/proc/sys/fs/pipe-user-pages-soft", "utf8"));
  const paths = Array.from({ length: pages / 16 + 16 }, (_, i) => join(dir, `fifo${i}`));
  execFileSync("mkfifo", ["-m", "666", ...paths]);
  execFileSync("chmod", ["755", dir]);
  await host.ask("holdFifos", { paths });
  const { id } = await host.start({
    command: 'printf %s "$BULK" | wc -c; exit 5',
    env: { BULK: "x".repeat(30_000) },
  });
  expect(await host.wait(id)).toMatchObject({ exitCode: 5 });
  expect(await host.ask("output", { id })).toBe("30000\n");
});
