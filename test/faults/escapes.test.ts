// Processes that try to escape from their shell end with it.
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { ESCAPES, escapeCommand, escaped } from "../fixtures/escapes.ts";
import { Mark } from "../fixtures/marked.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, directory } = useShells();

for (const { kind, what, impossible } of ESCAPES) {
  test(`${what} is killed with its shell`, async ({ skip, annotate }) => {
    const reason = impossible?.();
    skip(reason !== undefined, reason);
    const marks = new Mark();
    const mark = marks.next();
    const shell = await manager().createShell({
      command: `${escapeCommand(kind, mark, directory())}; sleep ${marks.next()}`,
      workingDir: tmpdir(),
    });
    await escaped(kind, mark, marks);

    const began = performance.now();
    const report = await shell.kill({ graceMs: 200 });
    await annotate(`killed in ${Math.round(performance.now() - began)} ms`);

    expect(marks.processes()).toEqual([]);
    expect(report.survivors).toEqual([]);
    expect(report.signalled.map(({ command }) => command)).toContainEqual(expect.stringContaining(mark));
    expect(shell.status).toBe("killed");
  });
}

test("killing an ended shell kills a daemon that the shell has left running", async () => {
  const marks = new Mark();
  const mark = marks.next();
  const dir = directory();
  const shell = await manager().createShell({
    command: escapeCommand("bare-daemon", mark, dir),
    workingDir: tmpdir(),
  });
  await shell.wait(20_000);
  await escaped("bare-daemon", mark, marks);
  const report = await shell.kill({ graceMs: 200 });
  expect(marks.processes()).toEqual([]);
  expect(report.signalled.map(({ command }) => command)).toEqual([expect.stringContaining(mark)]);
  // The shell exited by itself before the kill: its status does not change.
  expect(shell).toMatchObject({ status: "completed", exitCode: 0 });
});

test("killAll ends all kinds of escapes at once, each in a separate shell", async () => {
  const possible = ESCAPES.filter(({ impossible }) => impossible?.() === undefined);
  const shells = manager({ killGraceMs: 200 });
  const marks = new Mark();
  const dir = directory();
  for (const { kind } of possible) {
    const mark = marks.next();
    const command = `${escapeCommand(kind, mark, dir)}; sleep ${marks.next()}`;
    await shells.createShell({ command, workingDir: tmpdir() });
    await escaped(kind, mark, marks);
  }
  expect(await shells.killAll()).toBe(possible.length);
  expect(marks.processes()).toEqual([]);
  expect(shells.listShells().map(({ status }) => status)).toEqual(possible.map(() => "killed"));
});

test("killing one shell does not affect the escaped processes of another shell", async () => {
  const shells = manager();
  const marks = new Mark();
  const dir = directory();
  const [killed, spared] = [marks.next(), marks.next()];
  const start = async (mark: string) => {
    const shell = await shells.createShell({
      command: escapeCommand("bare-daemon", mark, dir),
      workingDir: tmpdir(),
    });
    await escaped("bare-daemon", mark, marks);
    return shell;
  };
  const victim = await start(killed);
  const other = await start(spared);
  await victim.kill();
  expect(marks.processes(killed)).toEqual([]);
  expect(marks.processes(spared)).toHaveLength(1);
  await other.kill();
  expect(marks.processes()).toEqual([]);
});
