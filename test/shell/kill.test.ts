import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { allPids, commandLine, readStat } from "../../src/engine/process-table.ts";
import type { KillReport } from "../../src/shell/kill-report.ts";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
/** Uses a short grace period, because no command here needs a longer one. */
const manager = () => shells.manager({ killGraceMs: 200 });

/** Starts a shell and waits until it prints "up". */
async function up(shells: ShellManager, command: string): Promise<ShellProcess> {
  const shell = await shells.createShell({ command, workingDir: tmpdir() });
  await shell.waitFor({ pattern: /^up/ }, 10_000);
  return shell;
}

const commandLines = (shell: ShellProcess) =>
  allPids()
    .filter((pid) => readStat(pid)?.group === shell.started.commandPid)
    .map((pid) => commandLine(pid));

const names = ({ signalled }: KillReport) => signalled.map(({ command }) => command).sort();

describe("a kill", () => {
  test("lets a command run its trap, and reports all processes of the command", async () => {
    const shell = await up(manager(), 'trap "echo bye; exit 5" TERM; (echo up; exec sleep 300) & wait');
    // The child prints "up" before it calls exec.
    await eventually(() => expect(commandLines(shell)).toContain("sleep 300"));
    const report = await shell.kill({ by: "a test" });
    expect(report.survivors).toEqual([]);
    expect(names(report)).toEqual([`bash ${shell.started.files.command}`, "sleep 300"]);
    expect(shell.outcome).toEqual({ kind: "killed", by: "a test", code: 5 });
    expect(shell.getAllOutput()).toBe("up\nbye\n");
  });

  test("ends a command that ignores TERM after the grace period, and not earlier", async () => {
    const shell = await up(manager(), 'trap "" TERM; echo up; sleep 300');
    const before = performance.now();
    expect((await shell.kill({ graceMs: 300 })).survivors).toEqual([]);
    expect(performance.now() - before).toBeGreaterThanOrEqual(300);
    expect(shell).toMatchObject({ status: "killed", exitCode: 137 });
  });

  test("does not let a shell that ignores TERM start its next command", async () => {
    const shells = manager();
    for (let round = 0; round < 15; round++) {
      // This shell waits for its child, which is the newest process on the machine.
      const shell = await up(shells, 'trap "" TERM; echo up; sleep 300; echo next step');
      await eventually(() => expect(commandLines(shell)).toContain("sleep 300"));
      expect((await shell.kill({ graceMs: 0 })).survivors).toEqual([]);
      expect(shell.getAllOutput()).toBe("up\n");
    }
  });

  test("without a grace period sends no TERM", async () => {
    const shell = await up(manager(), 'trap "echo bye" TERM; echo up; sleep 300 & wait; wait');
    await shell.kill({ graceMs: 0 });
    expect(shell.getAllOutput()).toBe("up\n");
    expect(shell.exitCode).toBe(137);
  });

  test("continues a stopped command so that it can run its trap", async () => {
    const shell = await up(
      manager(),
      'trap "echo bye; exit 0" TERM; echo up; kill -STOP $$; sleep 300 & wait',
    );
    await eventually(() => expect(readStat(shell.started.commandPid)?.state).toBe("T"));
    expect(shell.isRunning).toBe(true);
    await shell.kill();
    expect(shell.getAllOutput()).toBe("up\nbye\n");
    expect(shell.outcome).toMatchObject({ kind: "killed", code: 0 });
  });

  test("ends children in separate sessions, and children whose group leader has ended", async () => {
    const shell = await up(
      manager(),
      "setsid sleep 300 & (sleep 301 & ) ; (setsid bash -c 'sleep 302 & disown' &); echo up; exit 3",
    );
    await shell.wait(10_000);
    expect(shell.status).toBe("failed");
    const left = await eventually(async () => {
      const found = await shell.leftovers();
      expect(found.map(({ command }) => command).sort()).toEqual(["sleep 300", "sleep 301", "sleep 302"]);
      return found;
    });
    const report = await shell.kill();
    expect(report.survivors).toEqual([]);
    expect(names(report)).toEqual(["sleep 300", "sleep 301", "sleep 302"]);
    expect(left.filter(({ pid }) => isAlive(pid))).toEqual([]);
    // The shell exited by itself before the kill: its outcome does not change.
    expect(shell.outcome).toEqual({ kind: "exited", code: 3 });
  });

  test("of an ended shell without leftovers returns an empty report", async () => {
    const shell = await manager().createShell({ command: "true", workingDir: tmpdir() });
    await shell.wait(10_000);
    expect(await shell.kill()).toEqual({ signalled: [], survivors: [] });
    expect(shell.status).toBe("completed");
  });

  test("does not affect other shells", async () => {
    const shells = manager();
    const [one, other] = await Promise.all([
      up(shells, "echo up; sleep 300"),
      up(shells, "echo up; sleep 301"),
    ]);
    await one.kill();
    expect([one.status, other.status]).toEqual(["killed", "running"]);
  });

  test("that two callers request at the same time happens once, with the first cause", async () => {
    const shell = await up(manager(), "echo up; sleep 300");
    await Promise.all([shell.kill({ by: "first" }), shell.kill({ by: "second" })]);
    expect(shell.outcome).toMatchObject({ kind: "killed", by: "first" });
  });
});

test("a finished kill does not keep the process alive", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const shell = await up(manager(), "echo up; sleep 300");
  const before = timers();
  await shell.kill();
  expect(timers()).toBeLessThanOrEqual(before);
});

describe("terminate()", () => {
  test("sends TERM, and reports a death by TERM as a kill", async () => {
    const shell = await up(manager(), "echo up; sleep 300");
    await eventually(() => expect(commandLines(shell)).toContain("sleep 300"));
    const report = await shell.terminate();
    expect(names(report)).toContain("sleep 300");
    await shell.wait(10_000);
    expect(shell.outcome).toEqual({ kind: "killed", by: "terminate()", code: 143 });
  });

  test("does not report a command that exits in its trap as killed", async () => {
    const shell = await up(manager(), 'trap "exit 0" TERM; echo up; sleep 300 & wait');
    await shell.terminate();
    await shell.wait(10_000);
    expect(shell.outcome).toEqual({ kind: "exited", code: 0 });
  });

  test("does not end a command that ignores TERM, and does not mention SIGKILL", async () => {
    const shell = await up(manager(), 'trap "" TERM; echo up; while :; do sleep 300; done');
    const report = await shell.terminate();
    expect(shell.isRunning).toBe(true);
    for (const { reason } of report.survivors) expect(reason).not.toContain("SIGKILL");
    await shell.kill({ graceMs: 0 });
  });
});

describe("a signal on request", () => {
  test("reaches the command, and is not recorded as the cause of its end", async () => {
    const shell = await up(manager(), 'trap "echo usr1" USR1; echo up; while :; do sleep 300 & wait; done');
    await shell.sendSignal("SIGUSR1");
    await shell.waitFor({ pattern: /usr1/ }, 10_000);
    await shell.sendSignal("SIGKILL");
    await shell.wait(10_000);
    expect(shell).toMatchObject({ status: "failed", signal: "SIGKILL", exitCode: 137 });
  });

  test("can stop a shell, and continue it", async () => {
    const shell = await up(manager(), "echo up; while :; do sleep 0.05; done");
    await shell.sendSignal("SIGSTOP");
    await eventually(() => expect(readStat(shell.started.commandPid)?.state).toBe("T"), 1_000);
    expect(shell.status).toBe("running");
    await shell.sendSignal("SIGCONT");
    await eventually(() => expect(readStat(shell.started.commandPid)?.state).not.toBe("T"));
    await shell.kill({ graceMs: 0 });
  });
});
