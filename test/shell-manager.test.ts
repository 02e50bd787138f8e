import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { ShellManager } from "../src/shell-manager.ts";
import { useHosts } from "./fixtures/host-program.ts";
import { isAlive } from "./fixtures/processes.ts";
import { eventually, useShells } from "./fixtures/shells.ts";

const { manager, run, directory } = useShells();
const runHost = useHosts();
const sleep = (seconds = 300) => ({ command: `sleep ${seconds}`, workingDir: tmpdir() });

test("a shell runs its command, and stores both streams and the exit code", async () => {
  const shell = await run(manager(), "echo hi; echo oops >&2; exit 3");
  expect(shell.id).toMatch(/^shell_[0-9a-f]{8}$/);
  expect(shell).toMatchObject({ status: "failed", exitCode: 3, signal: null, isRunning: false });
  expect(shell.getAllOutput()).toBe("hi\n[stderr]\noops\n");
});

test("shared() returns the same manager until reset() ends that manager's shells and forgets it", async () => {
  vi.stubEnv("NACRE_HOME", join(directory(), "state"));
  const shared = ShellManager.shared();
  expect(ShellManager.shared()).toBe(shared);
  const shell = await shared.createShell({ command: "sleep 300", workingDir: tmpdir() });
  await ShellManager.reset();
  expect(shell.status).toBe("killed");
  expect(ShellManager.shared()).not.toBe(shared);
  await ShellManager.reset();
  vi.unstubAllEnvs();
});

describe("listing", () => {
  test("returns all shells, or only the running shells", async () => {
    const shells = manager();
    const ended = await run(shells, "true");
    const [one, two] = await Promise.all([shells.createShell(sleep()), shells.createShell(sleep())]);
    expect(shells.listShells()).toHaveLength(3);
    expect(new Set(shells.listRunning())).toEqual(new Set([one, two]));
    expect(shells.getShell(ended.id)).toBe(ended);
    expect(shells.getShell("shell_00000000")).toBeUndefined();
    expect(new Set(shells.listShells().map(({ id }) => id)).size).toBe(3);
    expect(await shells.killAll()).toBe(2);
    expect(shells.listRunning()).toEqual([]);
    expect([one.status, two.status, ended.status]).toEqual(["killed", "killed", "completed"]);
    expect(await shells.killAll()).toBe(0);
  });

  test("shows and ends only the shells of a scope", async () => {
    const shells = manager();
    const mine = await shells.createShell({ ...sleep(), scope: "a" });
    const other = await shells.createShell({ ...sleep(), scope: "b" });
    expect(shells.getShell(other.id, { scope: "a" })).toBeUndefined();
    expect(shells.getShell(other.id, { scope: "b" })).toBe(other);
    expect(shells.getShell(other.id)).toBe(other);
    expect(shells.listShells({ scope: "a" })).toEqual([mine]);
    expect(shells.listRunning({ scope: "c" })).toEqual([]);
    expect(await shells.killAll({ scope: "a", by: "scope a" })).toBe(1);
    expect([mine.outcome, other.status]).toEqual([{ kind: "killed", by: "scope a", code: 143 }, "running"]);
  });
});

describe("the limit on live shells", () => {
  test("counts per scope, does not count ended shells, and names the running shells in its error", async () => {
    const shells = manager({ maxLiveShells: 2 });
    const starts = await Promise.allSettled([1, 2, 3].map((n) => shells.createShell(sleep(300 + n))));
    const refused = starts.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(1);
    const [one, two] = shells.listRunning();
    await expect(shells.createShell(sleep())).rejects.toMatchObject({
      code: "limit_reached",
      message: `2 background shells are running, the most allowed. End one first: ${one?.id} (${one?.command}), ${two?.id} (${two?.command})`,
    });
    await Promise.all([
      shells.createShell({ ...sleep(), scope: "another" }),
      shells.createShell({ ...sleep(), background: false }),
    ]);
    await one?.kill({ graceMs: 0 });
    expect((await shells.createShell(sleep())).isRunning).toBe(true);
    await expect(shells.createShell(sleep())).rejects.toMatchObject({ code: "limit_reached" });
  });

  test("does not count a start that failed", async () => {
    const shells = manager({ maxLiveShells: 1 });
    for (const workingDir of ["/nowhere", "relative"]) {
      await expect(shells.createShell({ command: "true", workingDir })).rejects.toThrow("Working directory");
    }
    expect((await shells.createShell(sleep())).isRunning).toBe(true);
  });
});

describe("an idempotency key", () => {
  test("makes repeated starts in its scope return the same shell, both at once and later", async () => {
    const shells = manager();
    const start = (scope?: string) =>
      shells.createShell({ ...sleep(), idempotencyKey: "k", ...(scope === undefined ? {} : { scope }) });
    const [one, two] = await Promise.all([start(), start()]);
    expect(two).toBe(one);
    expect(await start("other")).not.toBe(one);
    await one.kill({ graceMs: 0 });
    expect(await start()).toBe(one);
    shells.forget(one);
    expect(await start()).not.toBe(one);
  });

  test("of a start that failed can be used again", async () => {
    const shells = manager();
    const key = { idempotencyKey: "k" };
    const failing = () => shells.createShell({ command: "true", workingDir: "/nowhere", ...key });
    const failures = await Promise.allSettled([failing(), failing()]);
    expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect((await run(shells, "exit 6", key)).exitCode).toBe(6);
  });
});

describe("forgetting", () => {
  test("removes ended shells that are old enough, with their files, and keeps the others", async () => {
    const shells = manager();
    const ended = await run(shells, "true");
    const running = await shells.createShell(sleep());
    expect(shells.cleanupCompleted()).toBe(0);
    expect(shells.cleanupCompleted({ maxAgeSeconds: 60 })).toBe(0);
    await eventually(() => expect(Date.now()).toBeGreaterThan(ended.completedAt ?? 0));
    expect(shells.cleanupCompleted({ maxAgeSeconds: 0 })).toBe(1);
    expect(shells.listShells()).toEqual([running]);
    expect(existsSync(ended.started.files.dir)).toBe(false);
    expect(existsSync(running.started.files.dir)).toBe(true);
    expect(() => shells.forget(running)).toThrow(`${running.id} is still running; end it first.`);
  });

  test("a shell does not prevent the end of its leftovers when the manager is disposed of", async () => {
    const shells = manager();
    const shell = await run(shells, "setsid sleep 300 >/dev/null 2>&1 & echo $!; disown");
    const pid = Number(shell.getAllOutput());
    shells.forget(shell);
    expect(isAlive(pid)).toBe(true);
    await shells.dispose();
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });
});

describe("disposing of a manager", () => {
  test("ends its shells, keeps their records, and refuses later starts", async () => {
    const shells = manager();
    const [one, two] = await Promise.all([shells.createShell(sleep()), shells.createShell(sleep())]);
    await Promise.all([shells.dispose(), shells.dispose()]);
    await shells.dispose();
    for (const shell of [one, two]) {
      expect(shell.outcome).toMatchObject({ kind: "killed", by: "the end of its host" });
      expect(existsSync(shell.started.files.record)).toBe(true);
    }
    await expect(shells.createShell(sleep())).rejects.toThrow("This shell manager has been disposed of.");
  });

  test("before its first start creates no files", async () => {
    const shells = manager();
    await shells.dispose();
    expect(existsSync(shells.root.path)).toBe(false);
  });

  test("is not necessary: a host with background shells exits by itself, and its shells end with it", async () => {
    const dir = directory();
    const options = { stateRoot: join(dir, "state") };
    const host = await runHost({ options, commands: ["echo ready; sleep 300"], ending: "return" }, dir);
    host.end();
    host.child.stdin?.end();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    const [shell] = host.shells;
    await eventually(() => expect(isAlive(shell?.commandPid ?? -1)).toBe(false));
  });
});

describe("the options of a start", () => {
  test("a NUL in the command is refused with its offset", async () => {
    await expect(manager().createShell({ command: "echo \0", workingDir: tmpdir() })).rejects.toMatchObject({
      code: "invalid_input",
      message: "The command contains a NUL character at offset 5; bash cannot read it.",
    });
  });

  test.each(["SHELLOPTS", "BASHOPTS"])("%s cannot be set by the caller", async (name) => {
    const started = manager().createShell({ ...sleep(), env: { [name]: "xtrace" } });
    await expect(started).rejects.toMatchObject({ code: "invalid_input" });
  });

  test("variables that no process can have are refused", async () => {
    const shells = manager();
    for (const env of [{ "my.var": "x" }, { A: "\0" }, { "": "x" }, { "A=B": "x" }]) {
      await expect(shells.createShell({ ...sleep(), env })).rejects.toMatchObject({ code: "invalid_input" });
    }
    const env = { BIG: "x".repeat(200_000) };
    await expect(shells.createShell({ ...sleep(), env })).rejects.toThrow("BIG has 200005 bytes");
  });

  test("only directories inside the allowed roots are accepted", async () => {
    const root = directory();
    const shells = manager({ allowedRoots: [root] });
    await expect(shells.createShell(sleep())).rejects.toThrow("is outside the allowed directories");
    expect((await run(shells, "pwd", { workingDir: root })).getAllOutput()).toBe(`${root}\n`);
  });

  test("the manager and the start can set variables, and secrets of the host are dropped and listed", async () => {
    process.env["NACRE_TEST_API_TOKEN"] = "s3cret-s3cret";
    const shells = manager({ environment: { set: { BASE: "1", BOTH: "base" } } });
    delete process.env["NACRE_TEST_API_TOKEN"];
    const text = 'echo "$BASE $BOTH $OWN [$NACRE_TEST_API_TOKEN]"';
    expect((await run(shells, text, { env: { BOTH: "own", OWN: "2" } })).getAllOutput()).toBe("1 own 2 []\n");
    expect((await run(shells, text)).getAllOutput()).toBe("1 base  []\n");
    expect(shells.environment.dropped).toContainEqual({ name: "NACRE_TEST_API_TOKEN", reason: "secret" });
  });
});

describe("a deadline", () => {
  test("ends its whole shell with the status timeout, keeps the output, and ends no other shell", async () => {
    const shells = manager();
    const other = await shells.createShell(sleep());
    const shell = await run(shells, "echo before; setsid sleep 300 & sleep 301", { timeoutMs: 1_000 });
    expect(shell.outcome).toMatchObject({ kind: "timedOut", afterMs: 1_000 });
    expect(shell).toMatchObject({ status: "timeout", isRunning: false });
    expect(shell.getAllOutput()).toBe("before\n");
    await eventually(async () => expect(await shell.leftovers()).toEqual([]));
    expect(other.status).toBe("running");
  });

  test("that is never reached changes nothing", async () => {
    expect(await run(manager(), "exit 2", { timeoutMs: 60_000 })).toMatchObject({
      status: "failed",
      exitCode: 2,
    });
  });
});

test("with containment best-effort, a command runs, and a kill finds and ends its processes", async () => {
  const shells = manager({ containment: "best-effort" });
  expect((await run(shells, "echo hi; exit 3")).exitCode).toBe(3);
  const shell = await shells.createShell({
    // Print "up" only after the child has called exec. Until then its name is bash, not sleep.
    command:
      "setsid sleep 300 & until read -r name </proc/$!/comm; [[ $name == sleep ]]; do :; done; echo up; sleep 301",
    workingDir: tmpdir(),
  });
  await shell.waitFor({ pattern: /up/ }, 10_000);
  const { signalled, survivors } = await shell.kill();
  expect(shells.containment).toBe("best-effort");
  expect(signalled.map(({ command }) => command)).toContain("sleep 300");
  expect(survivors).toEqual([]);
});

test("the duration of a command does not include the time in which this process was blocked", async () => {
  const shell = await manager().createShell({ command: "true", workingDir: "/" });
  // Block the event loop, like a host that computes for a while.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
  await shell.wait(10_000);
  expect(shell.durationMs).toBeLessThan(2_000);
});
