// The report of a kill, repeated kills, and processes that cannot be killed.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { notRoot, someUser } from "../fixtures/escapes.ts";
import { type KilledShell, useHosts } from "../fixtures/host-program.ts";
import { helper, Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();
const startHost = useHosts();

async function startReady(shells: ShellManager, command: string, timeoutMs?: number): Promise<ShellProcess> {
  const shell = await shells.createShell({
    command,
    workingDir: tmpdir(),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  await shell.waitFor({ pattern: /^ready$/ }, 20_000);
  return shell;
}

test("a command that exits on TERM gets no KILL, and its trap runs to completion", async () => {
  const shell = await startReady(manager(), "trap 'echo tidy; exit 0' TERM; echo ready; sleep 300 & wait");
  const report = await shell.kill();
  expect(report.survivors).toEqual([]);
  expect(shell.getAllOutput()).toBe("ready\ntidy\n");
  expect(shell.status).toBe("killed");
});

test("a kill right after the start ends the command with TERM, before the grace period is over", async () => {
  const shells = manager({ killGraceMs: 60_000 });
  for (let round = 0; round < 40; round++) {
    const shell = await shells.createShell({ command: "sleep 300", workingDir: "/" });
    expect((await shell.kill()).survivors).toEqual([]);
    expect([shell.status, shell.exitCode]).toEqual(["killed", 143]);
  }
});

test("a kill signals bash before its children, so that bash does not run its next command", async () => {
  const shell = await startReady(manager(), "sleep 300 & echo ready; sleep 301; echo after");
  const { signalled } = await shell.kill();
  expect(signalled.length).toBeGreaterThan(1);
  expect(signalled[0]?.pid).toBe(shell.started.commandPid);
  expect(shell.getAllOutput()).toBe("ready\n");
});

test("a command that ignores TERM is killed after the grace period, and named in the report", async () => {
  const shell = await startReady(
    manager(),
    "trap '' TERM; echo ready; while :; do read -t 300 <> <(:); done",
  );
  const report = await shell.kill({ graceMs: 100 });
  expect(report.survivors).toEqual([]);
  expect(report.signalled).toContainEqual({
    pid: shell.started.commandPid,
    command: expect.stringContaining("cmd"),
  });
  expect(shell).toMatchObject({ status: "killed", exitCode: 137 });
});

test("a shell that is killed twice stays killed, and the second report is empty", async () => {
  const shell = await startReady(manager(), "echo ready; sleep 300");
  await shell.kill({ by: "the first" });
  const second = await shell.kill({ by: "the second" });
  expect(second).toEqual({ signalled: [], survivors: [] });
  expect(shell.outcome).toMatchObject({ kind: "killed", by: "the first" });
});

test("two kills at the same time both return, and the shell is killed once", async () => {
  const shell = await startReady(manager(), "trap '' TERM; echo ready; sleep 300 & wait; sleep 300");
  const reports = await Promise.all([
    shell.kill({ by: "one", graceMs: 100 }),
    shell.kill({ by: "two", graceMs: 100 }),
  ]);
  expect(reports.map(({ survivors }) => survivors)).toEqual([[], []]);
  expect(shell.outcome).toMatchObject({ kind: "killed", by: "one" });
});

test("killing a finished shell changes neither its status nor its code", async () => {
  const shell = await run(manager(), "exit 5");
  expect(await shell.kill()).toEqual({ signalled: [], survivors: [] });
  expect(shell).toMatchObject({ status: "failed", exitCode: 5 });
});

test("a running, a killed, a finished and an unknown shell are distinguished", async () => {
  const shells = manager();
  const running = await startReady(shells, "echo ready; sleep 300");
  const killed = await startReady(shells, "echo ready; sleep 300");
  await killed.kill();
  const finished = await run(shells, "true");
  const status = (id: string) => shells.getShell(id)?.status;
  expect([running.id, killed.id, finished.id, "shell_00000000"].map(status)).toEqual([
    "running",
    "killed",
    "completed",
    undefined,
  ]);
  expect(await shells.killAll()).toBe(1);
  expect(await shells.killAll()).toBe(0);
});

test("a kill during the grace period of a timeout does not change the cause", async () => {
  const shells = manager({ killGraceMs: 1_000 });
  const shell = await startReady(
    shells,
    "trap 'echo asked' TERM; echo ready; while :; do sleep 300 & wait; done",
    300,
  );
  await shell.waitFor({ pattern: /^asked$/ }, 20_000);
  await shell.kill({ graceMs: 0 });
  expect(shell.status).toBe("timeout");
});

test("a timeout ends a whole pipeline and keeps its output", async () => {
  const marks = new Mark();
  const shell = await startReady(
    manager(),
    `echo ready; yes | sleep ${marks.next()} | sleep ${marks.next()}`,
    500,
  );
  await shell.wait(20_000);
  expect(shell.status).toBe("timeout");
  expect(shell.getAllOutput()).toBe("ready\n");
  await eventually(() => expect(marks.processes()).toEqual([]));
});

test("if the host is not root, a process of another user is reported as a survivor, with the reason", async ({
  skip,
}) => {
  const user = someUser();
  const reason = notRoot() ?? packageHiddenFrom(user);
  skip(reason !== undefined, reason);
  const dir = directory();
  // Create a setuid program of root that switches to another user, like sudo. Only `user` can run this program.
  const tools = join(dir, "tools");
  const become = join(tools, "become");
  mkdirSync(tools);
  spawnSync("cp", [which("setpriv"), become]);
  spawnSync("chown", [`0:${user}`, tools, become]);
  chmodSync(dir, 0o755);
  chmodSync(tools, 0o750);
  chmodSync(become, 0o4750);
  const stateRoot = join(dir, "state");
  mkdirSync(stateRoot);
  spawnSync("chown", [`${user}:${user}`, stateRoot]);

  const marks = new Mark();
  const [foreign, own] = [marks.next(), marks.next()];
  const command = `${become} --reuid 65534 --regid 65534 --clear-groups sleep ${foreign} & sleep ${own} & echo ready; wait`;
  const host = await startHost({ options: { stateRoot }, commands: [command] }, dir, {
    uid: user,
    gid: user,
  });
  try {
    await eventually(() =>
      expect(marks.processes(foreign).map((found) => found.command)).toEqual([`sleep ${foreign}`]),
    );
    const pid = marks.processes(foreign)[0]?.pid;
    host.child.kill("SIGUSR2");
    const { status, report } = (await host.next()) as KilledShell;
    expect(report.survivors).toEqual([
      { pid, command: `sleep ${foreign}`, reason: expect.stringContaining("EPERM") },
    ]);
    expect(report.signalled.map((signalled) => signalled.pid)).not.toContain(pid);
    expect(marks.processes(own)).toEqual([]);
    expect(status).toBe("killed");
  } finally {
    for (const left of marks.processes(foreign)) process.kill(left.pid, "SIGKILL");
  }
});

function which(program: string): string {
  return spawnSync("bash", ["--norc", "-c", `type -P ${program}`], { encoding: "utf8" }).stdout.trim();
}

function packageHiddenFrom(uid: number): string | undefined {
  const { status } = spawnSync(process.execPath, ["--check", helper("host.mjs")], {
    uid,
    gid: uid,
    cwd: "/",
  });
  return status === 0 ? undefined : "another user cannot read this directory or run this Node";
}
