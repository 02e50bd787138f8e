// The engine gives the same guarantees in a sandbox as without one.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { Mark } from "../fixtures/marked.ts";
import { describeSandboxed, runIn, useSandboxWorld } from "../fixtures/sandboxes.ts";
import { eventually } from "../fixtures/shells.ts";

const world = useSandboxWorld();
const { workspace, home, outside } = world;
const manager = world.manager({ sandbox: "workspace-write" });

describeSandboxed("a sandboxed shell", () => {
  test("reports output, exit codes and signals", async () => {
    const shell = await runIn(manager, "echo out; echo err >&2; exit 7", workspace);
    expect(shell.getAllOutput()).toBe("out\n[stderr]\nerr\n");
    expect(shell.outcome).toEqual({ kind: "exited", code: 7 });
    const killed = await runIn(manager, "kill -SEGV $$", workspace);
    expect(killed.outcome).toEqual({ kind: "signaled", signal: "SIGSEGV", code: 139 });
    // 1 is also bwrap's exit code for its own failures.
    const one = await runIn(manager, "exit 1", workspace);
    expect(one.outcome).toEqual({ kind: "exited", code: 1 });
  });

  test("has its confinement recorded in its meta file", async () => {
    const shell = await runIn(manager, "true", workspace);
    const expected = { driver: "bubblewrap", profile: "workspace-write", network: "none", notEnforced: [] };
    expect(shell.confinement).toEqual(expected);
    expect(JSON.parse(readFileSync(shell.started.files.meta, "utf8")).confinement).toEqual(expected);
  });

  test("gets the same variables, directory and script as without a sandbox", async () => {
    const command = `echo "$A|$PWD|$#|\${BASH_ENV-none}|\${0##*/}|$SHLVL"; echo $$ >"$HOME/x"`;
    const shell = await manager.createShell({
      command,
      workingDir: workspace,
      env: { A: "a b" },
      background: false,
    });
    await shell.wait(10_000);
    expect(shell.getAllOutput()).toContain(`a b|${workspace}|0|none|cmd|1\n`);
    expect(shell.getAllOutput()).toContain("Read-only file system");
  });

  test("runs the caller's BASH_ENV inside the sandbox", async () => {
    const env = { BASH_ENV: join(workspace, "rc") };
    await runIn(manager, "echo 'echo rc in pid $$' >rc", workspace);
    const shell = await manager.createShell({
      command: "echo cmd",
      workingDir: workspace,
      env,
      background: false,
    });
    await shell.wait(10_000);
    expect(shell.getAllOutput()).toBe("rc in pid 2\ncmd\n");
  });

  test("inherits only the standard descriptors", async () => {
    const shell = await runIn(manager, "exec ls /proc/self/fd", workspace);
    // Descriptor 3 is the directory that ls itself has open.
    expect(shell.getAllOutput()).toBe("0\n1\n2\n3\n");
  });

  test("gets TERM before KILL, so that its traps run", async () => {
    const command = "trap 'echo asked; exit 3' TERM; echo ready; while :; do read -t 0.05 <> <(:); done";
    const shell = await manager.createShell({ command, workingDir: workspace });
    await shell.waitFor({ pattern: /ready/, timeoutMs: 10_000 });
    const { survivors, signalled } = await shell.kill({ graceMs: 5_000 });
    expect(survivors).toEqual([]);
    expect(signalled.length).toBeGreaterThan(0);
    expect(shell.getAllOutput()).toBe("ready\nasked\n");
    expect(shell.outcome).toMatchObject({ kind: "killed", code: 3 });
  });

  test("ends together with everything it started, even after setsid and double forks", async () => {
    const mark = new Mark();
    const [hidden, ignoring] = [mark.next(), mark.next()];
    const command = `setsid sleep ${hidden} & (trap '' TERM; sleep ${ignoring}; sleep ${ignoring}) & echo ready; wait`;
    const shell = await manager.createShell({ command, workingDir: workspace });
    await shell.waitFor({ pattern: /ready/, timeoutMs: 10_000 });
    const { survivors } = await shell.kill({ graceMs: 100 });
    expect(survivors).toEqual([]);
    expect(mark.processes()).toEqual([]);
    expect(shell.status).toBe("killed");
  });

  test("is ended by its timeout", async () => {
    const shell = await manager.createShell({
      command: "echo begun; sleep 1000",
      workingDir: workspace,
      timeoutMs: 1_000,
    });
    await shell.wait(10_000);
    expect(shell.outcome).toMatchObject({ kind: "timedOut", afterMs: 1_000 });
    expect(shell.getAllOutput()).toBe("begun\n");
  });

  test("ends together with its leftovers", async () => {
    const mark = new Mark();
    const shell = await runIn(manager, `sleep ${mark.next()} & echo left`, workspace);
    expect(shell.outcome).toEqual({ kind: "exited", code: 0 });
    expect(await shell.leftovers()).toEqual([]);
    await eventually(() => expect(mark.processes()).toEqual([]));
  });

  test("ends together with its leftovers on a busy machine", async () => {
    const mark = new Mark();
    const commands = Array.from(
      { length: 60 },
      () => `sleep ${mark.next()} & sleep ${mark.next()} & echo left`,
    );
    const left = await Promise.all(
      commands.map(async (command) => await (await runIn(manager, command, workspace)).leftovers()),
    );
    expect(left.flat()).toEqual([]);
    await eventually(() => expect(mark.processes()).toEqual([]));
  });

  test("outlives its host if it is durable, and stays confined", async () => {
    const stateRoot = join(home, "state");
    const first = new ShellManager({ stateRoot, workspace, sandbox: "workspace-write" });
    const command = "echo begun; while [[ ! -e go ]]; do read -t 0.05 <> <(:); done; echo x >~/no; echo done";
    const shell = await first.createShell({ command, workingDir: workspace, durable: true });
    await shell.waitFor({ pattern: /begun/, timeoutMs: 10_000 });
    await first.dispose();
    const found = manager.find(shell.id);
    expect(found?.isRunning).toBe(true);
    await runIn(manager, "touch go", workspace);
    await found?.wait(10_000);
    expect(found?.confinement?.profile).toBe("workspace-write");
    expect(found?.getAllOutput()).toMatch(/^begun\ndone\n\[stderr\]\n.*Read-only file system\n$/);
  });

  test("keeps the order of stdout and stderr in a combined stream", async () => {
    const command = "echo 1; echo 2 >&2; echo 3";
    const shell = await manager.createShell({
      command,
      workingDir: workspace,
      streams: "merged",
      background: false,
    });
    await shell.wait(10_000);
    expect(shell.getAllOutput()).toBe("1\n2\n3\n");
  });

  test("fails to start with bwrap's message if it cannot be set up", async () => {
    const stateRoot = join(outside, "state");
    const shells = world.manager({ sandbox: "workspace-write", stateRoot });
    await shells.warmUp();
    const dir = join(stateRoot, "sandbox");
    const filter = join(dir, readdirSync(dir).find((name) => name.startsWith("seccomp-")) ?? "");
    writeFileSync(filter, "no program");
    const broken = await runIn(shells, "echo ran", workspace);
    expect(broken.outcome).toMatchObject({
      kind: "failedToStart",
      reason: expect.stringContaining("sandbox could not be set up"),
    });
    expect(broken.getAllOutput()).toMatch(/^\[stderr\]\nbwrap: /);
    rmSync(filter);
    const missing = await runIn(shells, "echo ran", workspace);
    expect(missing.outcome).toMatchObject({
      kind: "failedToStart",
      reason: expect.stringContaining("sandbox could not be set up"),
    });
    expect(missing.getAllOutput()).not.toContain("ran");
  });
});
