// A keeper that dies is replaced. Running shells continue, report their exit, and still end with their host.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ShellManager } from "../../src/shell-manager.ts";
import { escapeCommand, escaped } from "../fixtures/escapes.ts";
import { useHosts } from "../fixtures/host-program.ts";
import { processesTouching } from "../fixtures/leak-proof.ts";
import { isServing, keeperPid, Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();
const startHost = useHosts();

/** Kills the keeper and resolves with the PID of the next keeper once it serves requests. */
async function replaceKeeper(stateRoot: string, hostPid?: number): Promise<number> {
  const old = keeperPid(stateRoot, hostPid);
  process.kill(old, "SIGKILL");
  return await eventually(() => {
    const next = keeperPid(stateRoot, hostPid);
    expect(next).not.toBe(old);
    expect(isServing(next)).toBe(true);
    return next;
  });
}

function startWaiting(shells: ShellManager, go: string) {
  return shells.createShell({
    command: `echo ready; until [[ -e ${go} ]]; do sleep 0.02; done; echo done; exit 7`,
    workingDir: tmpdir(),
  });
}

test("a killed keeper is replaced, and running shells continue and report their exit", async ({
  annotate,
}) => {
  const shells = manager();
  const go = join(directory(), "go");
  const shell = await startWaiting(shells, go);
  await shell.waitFor({ pattern: /^ready$/ }, 20_000);
  const began = performance.now();
  await replaceKeeper(shells.root.path);
  await annotate(`replaced after ${Math.round(performance.now() - began)} ms`);
  expect(shell.status).toBe("running");
  writeFileSync(go, "");
  expect(await shell.wait(20_000)).toBe(7);
  expect(shell.status).toBe("failed");
  expect(shell.getAllOutput()).toBe("ready\ndone\n");
  expect(shell.remarks).toEqual([]);
});

test("a shell of a killed keeper is killed with everything it started", async () => {
  const shells = manager();
  const marks = new Mark();
  const mark = marks.next();
  const shell = await shells.createShell({
    command: `${escapeCommand("bare-daemon", mark, directory())}; sleep ${marks.next()}`,
    workingDir: tmpdir(),
  });
  await escaped("bare-daemon", mark, marks);
  await replaceKeeper(shells.root.path);
  const report = await shell.kill();
  expect(report.survivors).toEqual([]);
  expect(marks.processes()).toEqual([]);
  expect(shell.status).toBe("killed");
});

test("shells of a killed keeper and of the next one end with their host", async () => {
  const marks = new Mark();
  const dir = directory();
  const stateRoot = join(dir, "state");
  const mark = marks.next();
  const commands = [`${escapeCommand("bare-daemon", mark, dir)}; echo ready; sleep ${marks.next()}`];
  const host = await startHost({ options: { stateRoot }, commands }, dir);
  await escaped("bare-daemon", mark, marks);
  await replaceKeeper(stateRoot, host.pid);
  const last = await replaceKeeper(stateRoot, host.pid);
  expect(marks.processes(mark)).toHaveLength(1);
  host.child.kill("SIGKILL");
  await host.exited;
  await eventually(() => expect(marks.processes()).toEqual([]));
  await eventually(() => expect(isAlive(last)).toBe(false));
});

test("a keeper that is killed while it starts is replaced", async () => {
  const shells = manager();
  const go = join(directory(), "go");
  const shell = await startWaiting(shells, go);
  const first = keeperPid(shells.root.path);
  process.kill(first, "SIGKILL");
  const second = await eventually(() => {
    const next = keeperPid(shells.root.path);
    expect(next).not.toBe(first);
    return next;
  });
  process.kill(second, "SIGKILL");
  await eventually(() => {
    const third = keeperPid(shells.root.path);
    expect(third).not.toBe(second);
    expect(isServing(third)).toBe(true);
  });
  writeFileSync(go, "");
  expect(await shell.wait(20_000)).toBe(7);
});

test("starts succeed while a dead keeper is replaced", async () => {
  // Use no slots, so that every start needs the keeper.
  const shells = manager({ poolSize: 0 });
  await shells.warmUp();
  for (let round = 0; round < 3; round++) {
    process.kill(keeperPid(shells.root.path), "SIGKILL");
    const started = await Promise.all(
      Array.from({ length: 4 }, (_, index) => run(shells, `echo ${round}.${index}`)),
    );
    expect(started.map((shell) => shell.getAllOutput())).toEqual([0, 1, 2, 3].map((n) => `${round}.${n}\n`));
  }
});

test("a start that is in progress when the keeper dies returns a shell or fails with a clear error", async () => {
  const shells = manager({ poolSize: 0 });
  await shells.warmUp();
  const starts = Array.from({ length: 12 }, () => run(shells, "echo here"));
  process.kill(keeperPid(shells.root.path), "SIGKILL");
  const results = await Promise.allSettled(starts);
  for (const result of results) {
    if (result.status === "fulfilled") expect(result.value.getAllOutput()).toBe("here\n");
    else expect(result.reason).toMatchObject({ name: "NacreError", code: "spawn_failed" });
  }
  expect((await run(shells, "echo again")).getAllOutput()).toBe("again\n");
});

test("a waiting slot survives its keeper and runs a command", async () => {
  const shells = manager({ poolSize: 1 });
  await run(shells, "true");
  await eventually(() => expect(shells.root.list()).toHaveLength(2));
  await replaceKeeper(shells.root.path);
  expect((await run(shells, "echo late")).getAllOutput()).toBe("late\n");
});

for (const { when, program } of [
  { when: "before it greets", program: "exit 1" },
  {
    when: "after it has greeted",
    program: "echo hello 2 $$ 1 none boot 1 5.2; read -r -d '' first; exit 1",
  },
]) {
  test(`a start fails with a clear error, without a hang, if every keeper dies ${when}`, async () => {
    const dir = directory();
    const count = join(dir, "count");
    const shellPath = join(dir, "bash");
    writeFileSync(shellPath, `#!/usr/bin/env bash\necho x >>${count}\n${program}\n`);
    chmodSync(shellPath, 0o755);
    const shells = manager({ shellPath });
    const start = shells.createShell({ command: "true", workingDir: tmpdir() });
    await expect(start).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringMatching(/^The keeper/),
    });
    expect(existsSync(count)).toBe(true);
    expect(shells.listShells()).toEqual([]);
  });
}

test("after the keeper was killed many times in a row, a new keeper starts for the next command", async () => {
  const shells = manager({ poolSize: 0 });
  await run(shells, "true");
  for (let deaths = 0; deaths < 5; deaths++) await replaceKeeper(shells.root.path);
  // This death exceeds the limit: for a while, the host starts a new keeper only if a command needs one.
  process.kill(keeperPid(shells.root.path), "SIGKILL");
  expect((await run(shells, "echo again")).getAllOutput()).toBe("again\n");
});

test("a manager that is disposed of while slots start leaves none of them behind", async () => {
  for (let round = 0; round < 10; round++) {
    const shells = manager({ poolSize: 6 });
    await run(shells, "true");
    // Wait until the list contains the first new slot in addition to the shell that ran.
    await eventually(() => expect(shells.root.list().length).toBeGreaterThan(1));
    await shells.dispose();
    await eventually(() => expect(processesTouching(shells.root.path)).toEqual([]));
  }
});

test("a keeper that hangs does not block a kill", async () => {
  const shells = manager();
  const shell = await shells.createShell({ command: "echo ready; sleep 300", workingDir: tmpdir() });
  await shell.waitFor({ pattern: /^ready$/ }, 20_000);
  const keeper = keeperPid(shells.root.path);
  process.kill(keeper, "SIGSTOP");
  try {
    const report = await shell.kill();
    expect(report.survivors).toEqual([]);
    expect(shell.status).toBe("killed");
  } finally {
    process.kill(keeper, "SIGCONT");
  }
});

test("a host whose keeper dies while the host waits exits by itself and leaves nothing behind", {
  timeout: 12_000,
}, async () => {
  const marks = new Mark();
  const dir = directory();
  const stateRoot = join(dir, "state");
  const commands = [`echo ready; sleep ${marks.next()}`];
  const host = await startHost({ options: { stateRoot }, commands, ending: "give-up-and-return" }, dir);
  host.end();
  expect(await host.next()).toEqual({ event: "waiting" });
  await replaceKeeper(stateRoot, host.pid);
  expect(await host.exited).toEqual({ code: 0, signal: null });
  await eventually(() => expect(marks.processes()).toEqual([]));
});
