import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run, directory } = useShells();
const sleeping = { command: "sleep 300", workingDir: tmpdir() };

afterEach(async () => {
  vi.useRealTimers();
  await ShellManager.reset();
  vi.unstubAllEnvs();
});

/** Returns the process-wide manager with a separate state root for this test. */
function shared(): ShellManager {
  vi.stubEnv("NACRE_HOME", join(directory(), "state"));
  return ShellManager.shared();
}

describe("Feature: Shell Manager", () => {
  test("Create shell", async () => {
    const shells = manager();
    const [first, second] = [await shells.createShell(sleeping), await shells.createShell(sleeping)];
    expect(first).toMatchObject({ status: "running", command: "sleep 300", workingDir: tmpdir() });
    expect(first.id).not.toBe(second.id);
    expect(shells.listShells()).toEqual([first, second]);
  });

  test("Get shell by ID", async () => {
    const shells = manager();
    await shells.createShell(sleeping);
    const shell = await shells.createShell(sleeping);
    expect(shells.getShell(shell.id)).toBe(shell);
  });

  test("Get non-existent shell", async () => {
    const shells = manager();
    await shells.createShell(sleeping);
    expect(shells.getShell("shell_xyz")).toBeUndefined();
  });

  test("List all shells", async () => {
    const shells = manager();
    await Promise.all([1, 2, 3].map(() => shells.createShell(sleeping)));
    expect(shells.listShells()).toHaveLength(3);
  });

  test("List running shells", async () => {
    const shells = manager();
    await run(shells, "true");
    const running = [await shells.createShell(sleeping), await shells.createShell(sleeping)];
    expect(shells.listRunning()).toEqual(running);
    expect(shells.listRunning().every(({ isRunning }) => isRunning)).toBe(true);
    expect(shells.listShells()).toHaveLength(3);
  });

  test("Cleanup completed shells", async () => {
    const shells = manager({ finishedMaxAgeSeconds: 1e9 });
    const old = await run(shells, "true");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_601_000 });
    const recent = await run(shells, "true");
    const running = await shells.createShell(sleeping);
    expect(shells.cleanupCompleted({ maxAgeSeconds: 3600 })).toBe(1);
    expect(shells.getShell(old.id)).toBeUndefined();
    expect(shells.listShells()).toEqual([recent, running]);
  });

  test("Kill all shells", async () => {
    const shells = manager();
    const three = await Promise.all([1, 2, 3].map(() => shells.createShell(sleeping)));
    expect(await shells.killAll()).toBe(3);
    expect(three.map(({ status }) => status)).toEqual(["killed", "killed", "killed"]);
  });

  test("ShellManager is singleton", async () => {
    const [a, b] = [shared(), ShellManager.shared()];
    expect(a).toBe(b);
    const shell = await a.createShell(sleeping);
    expect(b.getShell(shell.id)).toBe(shell);
  });

  test("Reset singleton for testing", async () => {
    const before = shared();
    const shell = await before.createShell(sleeping);
    await ShellManager.reset();
    expect(shell).toMatchObject({ isRunning: false, status: "killed" });
    expect(ShellManager.shared()).not.toBe(before);
    expect(ShellManager.shared().listShells()).toEqual([]);
  });
});
