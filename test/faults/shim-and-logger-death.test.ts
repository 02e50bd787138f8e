// A killed shim or logger is never reported as a success.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEndRecord } from "../../src/engine/end-record.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { escapeCommand, escaped } from "../fixtures/escapes.ts";
import { helper, keeperPid, loggerPids, Mark } from "../fixtures/marked.ts";
import { isAlive, stateOf } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();

async function startReady(shells: ShellManager, command: string): Promise<ShellProcess> {
  const shell = await shells.createShell({ command: `echo ready; ${command}`, workingDir: tmpdir() });
  await shell.waitFor({ pattern: /^ready$/ }, 20_000);
  return shell;
}

/**
 * Runs `step` while the keeper of these shells is stopped: its dead children are not reaped and stay zombies.
 */
async function whileKeeperSleeps(shells: ShellManager, step: () => Promise<void>): Promise<void> {
  const keeper = keeperPid(shells.root.path);
  process.kill(keeper, "SIGSTOP");
  try {
    await step();
  } finally {
    process.kill(keeper, "SIGCONT");
  }
}

test("a shell whose shim is killed is lost, has no exit code, and its tree is killed", async () => {
  const shells = manager({ killGraceMs: 200 });
  const marks = new Mark();
  const mark = marks.next();
  const shell = await startReady(
    shells,
    `${escapeCommand("bare-daemon", mark, directory())}; sleep ${marks.next()}`,
  );
  await escaped("bare-daemon", mark, marks);
  process.kill(shell.started.shimPid, "SIGKILL");
  expect(await shell.wait(20_000)).toBe(null);
  expect(shell).toMatchObject({ status: "lost", exitCode: null, signal: null, isRunning: false });
  expect(shell.outcome).toMatchObject({ kind: "lost", reason: expect.stringContaining("shim") });
  await eventually(() => expect(marks.processes()).toEqual([]));
  expect(shell.getAllOutput()).toBe("ready\n");
});

test("a lost shell is detected without a call", async () => {
  const shells = manager({ killGraceMs: 200 });
  const marks = new Mark();
  const shell = await startReady(shells, `sleep ${marks.next()}`);
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  process.kill(shell.started.shimPid, "SIGKILL");
  await eventually(() => expect(marks.processes()).toEqual([]));
  expect(shell.status).toBe("lost");
  expect(shells.listRunning()).toEqual([]);
});

test("a command that would have succeeded is lost if its shim dies before the command ends", async () => {
  const shells = manager();
  const go = join(directory(), "go");
  const shell = await startReady(shells, `until [[ -e ${go} ]]; do sleep 0.02; done; exit 0`);
  process.kill(shell.started.shimPid, "SIGKILL");
  writeFileSync(go, "");
  await shell.wait(20_000);
  expect(shell).toMatchObject({ status: "lost", exitCode: null });
});

test("a lost shell no longer counts as a live shell, and the next command runs", async () => {
  const shells = manager({ maxLiveShells: 1, poolSize: 0, killGraceMs: 200 });
  const shell = await startReady(shells, "sleep 300");
  process.kill(shell.started.shimPid, "SIGKILL");
  await shell.wait(20_000);
  expect((await run(shells, "echo next")).getAllOutput()).toBe("next\n");
});

test("a shell whose shim is a zombie does not count as running: its exit record decides", async () => {
  const shells = manager();
  const go = join(directory(), "go");
  const shell = await startReady(shells, `until [[ -e ${go} ]]; do sleep 0.02; done; exit 4`);
  await whileKeeperSleeps(shells, async () => {
    writeFileSync(go, "");
    await eventually(() => expect(stateOf(shell.started.shimPid)).toBe("Z"));
    expect(shell).toMatchObject({ status: "failed", exitCode: 4, isRunning: false });
    expect(await shell.wait(5_000)).toBe(4);
  });
});

test("a shell whose killed shim is a zombie has the status lost, and a wait for the shell returns", async () => {
  // With a pool, the host could be waiting for another slot, and would continue the stopped keeper.
  const shells = manager({ killGraceMs: 200, poolSize: 0 });
  const marks = new Mark();
  const shell = await startReady(shells, `sleep ${marks.next()}`);
  await whileKeeperSleeps(shells, async () => {
    const waiting = shell.wait(5_000);
    process.kill(shell.started.shimPid, "SIGKILL");
    await eventually(() => expect(stateOf(shell.started.shimPid)).toBe("Z"));
    expect(await waiting).toBe(null);
    expect(shell.status).toBe("lost");
    await eventually(() => expect(marks.processes()).toEqual([]));
  });
});

for (const { stream, index, print } of [
  { stream: "stdout", index: 0, print: "echo more" },
  { stream: "stderr", index: 1, print: "echo more >&2" },
]) {
  test(`a command that prints after its ${stream} logger was killed has the remark "logger lost", not only code 141`, async () => {
    const shells = manager();
    const go = join(directory(), "go");
    // Use a program: a builtin would only fail, without a signal.
    const shell = await startReady(
      shells,
      `until [[ -e ${go} ]]; do sleep 0.02; done; exec bash -c '${print}; exit 0'`,
    );
    const logger = (await loggerPids(shell.started.shimPid))[index] ?? Number.NaN;
    process.kill(logger, "SIGKILL");
    await eventually(() => expect(isAlive(logger)).toBe(false));
    writeFileSync(go, "");
    await shell.wait(20_000);
    expect(shell).toMatchObject({ status: "failed", exitCode: 141, signal: "SIGPIPE" });
    expect(shell.remarks).toContainEqual(expect.stringContaining("logger lost"));
    expect(shell.getAllOutput()).toBe("ready\n");
  });
}

test("a command that prints nothing after its logger was killed keeps its exit code and has the remark", async () => {
  const shells = manager();
  const go = join(directory(), "go");
  const shell = await startReady(shells, `until [[ -e ${go} ]]; do sleep 0.02; done; exit 6`);
  for (const logger of await loggerPids(shell.started.shimPid)) process.kill(logger, "SIGKILL");
  writeFileSync(go, "");
  expect(await shell.wait(20_000)).toBe(6);
  expect(shell.remarks).toContainEqual(expect.stringContaining("logger lost"));
});

test("a shell that another process kills has the status killed in the manager that started it", async () => {
  const shell = await startReady(manager(), "sleep 300");
  const { files, commandPid } = shell.started;
  execFileSync(process.execPath, [
    helper("kill-from-outside.mjs"),
    files.record,
    String(commandPid),
    "another process",
  ]);
  await shell.wait(20_000);
  expect(shell).toMatchObject({ status: "killed", exitCode: 137 });
  expect(shell.outcome).toMatchObject({ kind: "killed", by: "another process" });
  expect(readEndRecord(files.record)).toMatchObject({ exit: { code: 137 }, cause: { kind: "killed" } });
});

test("a signal without a cause on disk is an ordinary death by signal", async () => {
  const shell = await startReady(manager(), "sleep 300");
  process.kill(-shell.started.commandPid, "SIGKILL");
  await shell.wait(20_000);
  expect(shell).toMatchObject({ status: "failed", exitCode: 137, signal: "SIGKILL" });
});
