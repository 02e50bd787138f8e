import { existsSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { Watchlist } from "../../src/shell/watchlist.ts";
import { LIVENESS_CHECK_MS, LIVENESS_READS_COUNT } from "../../src/support/limits.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager } = useShells();

test("every check refreshes all shells whose shim is gone", async () => {
  const shell = await manager().createShell({ command: "sleep 300", workingDir: "/" });
  const { shimPid } = shell.started;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const refreshed = new Set<number>();
    const list = new Watchlist();
    const count = LIVENESS_READS_COUNT * 3;
    for (let index = 0; index < count; index++) {
      const copy: ShellProcess = Object.create(shell, { refresh: { value: () => refreshed.add(index) } });
      list.add(copy);
    }
    process.kill(shimPid, "SIGKILL");
    // Wait until the keeper has reaped the shim.
    await eventually(() => expect(existsSync(`/proc/${shimPid}`)).toBe(false));
    vi.advanceTimersByTime(LIVENESS_CHECK_MS);
    expect(refreshed.size).toBe(count);
    list.stop();
  } finally {
    vi.useRealTimers();
  }
});

test("if there are many live shells, each check refreshes some of them, in turn", async () => {
  const one = await manager().createShell({ command: "sleep 300", workingDir: "/" });
  const count = LIVENESS_READS_COUNT * 2 + 3;
  const refreshes = new Map<number, number>();
  const shells = Array.from({ length: count }, (_, index) => {
    const shell: ShellProcess = Object.create(one, {
      refresh: { value: () => refreshes.set(index, (refreshes.get(index) ?? 0) + 1) },
    });
    return shell;
  });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const list = new Watchlist();
    for (const shell of shells) list.add(shell);
    for (let round = 1; round <= 3; round++) {
      vi.advanceTimersByTime(LIVENESS_CHECK_MS);
      expect(refreshes.size).toBe(Math.min(round * LIVENESS_READS_COUNT, count));
    }
    expect([...refreshes.values()]).toEqual(shells.map(() => 1));
    vi.advanceTimersByTime(LIVENESS_CHECK_MS);
    expect(refreshes.get(0)).toBe(2);
    for (const shell of shells) list.delete(shell);
    expect(list.list()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("a stopped list starts again with the next shell", async () => {
  const shell = await manager().createShell({ command: "sleep 300", workingDir: "/" });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const list = new Watchlist();
    list.add(shell);
    list.add(shell);
    expect(vi.getTimerCount()).toBe(1);
    list.stop();
    expect(vi.getTimerCount()).toBe(0);
    list.add(shell);
    expect(vi.getTimerCount()).toBe(1);
    list.stop();
  } finally {
    vi.useRealTimers();
  }
});
