import { expect, test, vi } from "vitest";
import { Deadlines } from "../../src/shell/deadlines.ts";
import { TIMER_MAX_MS } from "../../src/support/limits.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager } = useShells();

async function sleeper() {
  return await manager().createShell({ command: "echo up; sleep 300", workingDir: "/" });
}

test("a shell is ended at its deadline, and its outcome has the timeout", async () => {
  const shell = await sleeper();
  new Deadlines().set(shell, 5_000, 50);
  await shell.wait(20_000);
  expect(shell.outcome).toMatchObject({ kind: "timedOut", afterMs: 5_000 });
});

test("a shell past its deadline is ended at once", async () => {
  const shell = await sleeper();
  new Deadlines().set(shell, 5_000, -86_400_000);
  await shell.wait(20_000);
  expect(shell.outcome).toMatchObject({ kind: "timedOut", afterMs: 5_000 });
});

test("a cleared deadline ends no shell, whether it was cleared separately or together with all others", async () => {
  const [first, second, third] = [await sleeper(), await sleeper(), await sleeper()];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const deadlines = new Deadlines();
    const ends = [first, second, third].map((shell) => {
      deadlines.set(shell, 10, 10);
      return vi.spyOn(shell, "end").mockResolvedValue({ signalled: [], survivors: [] });
    });
    deadlines.clear(first);
    vi.advanceTimersByTime(9);
    deadlines.clear(second);
    vi.advanceTimersByTime(2);
    expect(ends.map((end) => end.mock.calls.length)).toEqual([0, 0, 1]);
    deadlines.set(first, 10, 10);
    deadlines.clearAll();
    vi.advanceTimersByTime(100);
    expect(ends.map((end) => end.mock.calls.length)).toEqual([0, 0, 1]);
  } finally {
    vi.useRealTimers();
  }
});

test("a deadline beyond the longest timer is exact to the millisecond", async () => {
  const shell = await sleeper();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const end = vi.spyOn(shell, "end").mockResolvedValue({ signalled: [], survivors: [] });
    const far = 2 * TIMER_MAX_MS + 1_000;
    new Deadlines().set(shell, far, far);
    vi.advanceTimersByTime(far - 1);
    expect(end).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(end).toHaveBeenCalledExactlyOnceWith({ kind: "timeout", detail: String(far) });
  } finally {
    vi.useRealTimers();
  }
});

test("a failed attempt to end a shell is repeated until the shell has ended", async () => {
  const shell = await sleeper();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const end = vi.spyOn(shell, "end").mockRejectedValueOnce(new Error("out of file descriptors"));
    end.mockResolvedValueOnce({ signalled: [], survivors: [] });
    new Deadlines().set(shell, 10, 10);
    await vi.advanceTimersByTimeAsync(10);
    expect(end).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(end).toHaveBeenCalledTimes(2);
    // The third call is not mocked.
    await vi.advanceTimersByTimeAsync(1_000);
    expect(end).toHaveBeenCalledTimes(3);
  } finally {
    vi.useRealTimers();
  }
  await shell.wait(20_000);
  expect(shell.status).toBe("timeout");
});
