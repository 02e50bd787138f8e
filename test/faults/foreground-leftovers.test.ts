// If a command leaves a process running, the call returns at once with all output, and the result names the
// leftover. NACRE_LONG=1 runs more rounds.
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import type { ShellManager } from "../../src/shell-manager.ts";
import { isLong } from "../fixtures/long.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

/**
 * Runs a foreground command that prints the time as its last line. Returns the delay from then to the result.
 */
async function runTimed(shells: ShellManager, command: string) {
  const shell = await shells.createShell({
    command: `${command}; echo "$EPOCHREALTIME" >&2`,
    workingDir: tmpdir(),
    background: false,
  });
  await shell.wait(20_000);
  const returnedAt = performance.timeOrigin + performance.now();
  const [stdout = "", stderr = ""] = shell.getAllOutput().split("[stderr]\n");
  return { shell, stdout, lateMs: returnedAt - Number(stderr) * 1000 };
}

const TURNS = isLong ? 150 : 20;
/** Detects a hang: the leftovers sleep for a day. */
const CEILING_MS = 20_000;

test("`sleep & echo hi` returns at once with its complete output, every time, and names its leftover", async ({
  annotate,
}) => {
  const shells = manager();
  const marks = new Mark();
  const late: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const mark = marks.next();
    const { shell, stdout, lateMs } = await runTimed(shells, `sleep ${mark} & echo hi`);
    late.push(lateMs);
    expect(stdout).toBe("hi\n");
    expect(shell).toMatchObject({ status: "completed", exitCode: 0, remarks: [] });
    // The leftover may not have called exec yet.
    await eventually(async () =>
      expect(await shell.leftovers()).toEqual([expect.objectContaining({ command: `sleep ${mark}` })]),
    );
  }
  late.sort((a, b) => a - b);
  const [median = 0, longest = 0] = [late[TURNS / 2], late[TURNS - 1]];
  await annotate(
    `returned ${median.toFixed(1)} ms (median), ${longest.toFixed(1)} ms (longest) after the exit`,
  );
  expect(longest).toBeLessThan(CEILING_MS);
  expect(marks.processes()).toHaveLength(TURNS);
  await shells.dispose();
  expect(marks.processes()).toEqual([]);
});

for (const { size, bytes, turns } of [
  { size: "200 kB", bytes: 200_000, turns: isLong ? 40 : 5 },
  { size: "5 MB", bytes: 5_000_000, turns: isLong ? 8 : 3 },
]) {
  test(`${size} of output right before the exit arrive completely while a leftover has the pipe open`, async () => {
    const shells = manager();
    const marks = new Mark();
    for (let turn = 0; turn < turns; turn++) {
      const shell = await shells.createShell({
        command: `sleep ${marks.next()} & head -c ${bytes} /dev/zero | tr '\\0' x`,
        workingDir: tmpdir(),
        background: false,
      });
      expect(await shell.wait(20_000)).toBe(0);
      expect(shell.getAllOutput()).toBe("x".repeat(bytes));
      expect(shell.remarks).toEqual([]);
      expect((await shell.kill()).survivors).toEqual([]);
    }
    expect(marks.processes()).toEqual([]);
  });
}

test("a command that leaves nothing has no leftovers", async () => {
  const shells = manager();
  expect(await (await run(shells, "true")).leftovers()).toEqual([]);
  expect(await (await run(shells, "sleep 0.01 & wait; ls / | cat")).leftovers()).toEqual([]);
});

test("a leftover without its original session, parents and environment is named", async () => {
  const marks = new Mark();
  const mark = marks.next();
  const shell = await run(manager(), `(env -i setsid sleep ${mark} </dev/null >/dev/null 2>&1 &)`);
  await eventually(async () => expect(await shell.leftovers()).toMatchObject([{ command: `sleep ${mark}` }]));
  await shell.kill();
  expect(await shell.leftovers()).toEqual([]);
  expect(marks.processes()).toEqual([]);
});

test("a command does not report the leftovers of an earlier command", async () => {
  const shells = manager();
  const marks = new Mark();
  const first = await run(shells, `sleep ${marks.next()} &`);
  const second = await run(shells, "true");
  expect(await second.leftovers()).toEqual([]);
  expect(await first.leftovers()).toHaveLength(1);
});

test("leftovers of a forgotten shell end with its manager", async () => {
  const shells = manager();
  const marks = new Mark();
  const shell = await run(shells, `setsid sleep ${marks.next()} &`);
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  shells.forget(shell);
  await shells.dispose();
  await eventually(() => expect(marks.processes()).toEqual([]));
});
