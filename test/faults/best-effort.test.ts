// If tags do not work, nacre finds the processes of a shell by their process group, their parents and an
// environment variable. Callers can read the level of containment.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { escapeCommand, escaped } from "../fixtures/escapes.ts";
import { useHosts } from "../fixtures/host-program.ts";
import { Mark, processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();
const startHost = useHosts();

/** How nacre finds each process: by its group, its parents or its environment. */
const FOUND = [
  { kind: "background", what: "a background process, by its group," },
  { kind: "nohup", what: "a nohup process, by its group," },
  { kind: "bare-background", what: "a process with an empty environment, by its group," },
  { kind: "double-fork", what: "a double-forked process, by its group," },
  { kind: "setsid", what: "a setsid daemon, by its environment," },
  { kind: "daemon", what: "a daemon with all descriptors closed, by its environment," },
  { kind: "term-ignorer", what: "a process that ignores TERM, by its group," },
  { kind: "stopped", what: "a stopped process, by its group," },
];

test("callers can read the level of containment", async () => {
  const best = manager({ containment: "best-effort" });
  await run(best, "true");
  expect(best.containment).toBe("best-effort");
  const usual = manager();
  await run(usual, "true");
  expect(usual.containment).toBe("tag");
});

test("without tags, a command's limit on file locks stays unlimited", async () => {
  const shell = await run(manager({ containment: "best-effort" }), "ulimit -Hx");
  expect(shell.getAllOutput()).toBe("unlimited\n");
});

for (const { kind, what } of FOUND) {
  test(`without tags, ${what} is killed with its shell`, async () => {
    const marks = new Mark();
    const mark = marks.next();
    const shell = await manager({ containment: "best-effort" }).createShell({
      command: `${escapeCommand(kind, mark, directory())}; sleep ${marks.next()}`,
      workingDir: tmpdir(),
    });
    await escaped(kind, mark, marks);
    const report = await shell.kill({ graceMs: 200 });
    expect(marks.processes()).toEqual([]);
    expect(report.survivors).toEqual([]);
    expect(report.signalled.map(({ command }) => command)).toContainEqual(expect.stringContaining(mark));
    expect(shell.status).toBe("killed");
  });
}

test("without tags, a child in a separate session with an empty environment is found through its parent", async () => {
  const marks = new Mark();
  const mark = marks.next();
  const shell = await manager({ containment: "best-effort" }).createShell({
    // This setsid does not lead a group, so it does not fork and stays a child of the command.
    command: `env -i setsid sleep ${mark} & echo ready; wait`,
    workingDir: tmpdir(),
  });
  await eventually(() =>
    expect(marks.processes()).toEqual([expect.objectContaining({ command: `sleep ${mark}` })]),
  );
  const report = await shell.kill();
  expect(marks.processes()).toEqual([]);
  expect(report.survivors).toEqual([]);
});

test("without tags, the leftovers of a foreground command are named and can be killed", async () => {
  const marks = new Mark();
  const [plain, apart] = [marks.next(), marks.next()];
  const shell = await run(
    manager({ containment: "best-effort" }),
    `sleep ${plain} & setsid sleep ${apart} & echo hi`,
  );
  expect(shell.getAllOutput()).toBe("hi\n");
  await eventually(async () =>
    expect((await shell.leftovers()).map(({ command }) => command).sort()).toEqual([
      `sleep ${plain}`,
      `sleep ${apart}`,
    ]),
  );
  await shell.kill();
  expect(marks.processes()).toEqual([]);
});

test("without tags, killing one shell does not affect another shell and its children", async () => {
  const shells = manager({ containment: "best-effort" });
  const marks = new Mark();
  const [killed, spared] = [marks.next(), marks.next()];
  const one = await shells.createShell({ command: `setsid sleep ${killed} & wait`, workingDir: tmpdir() });
  const two = await shells.createShell({ command: `setsid sleep ${spared} & wait`, workingDir: tmpdir() });
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  await one.kill();
  expect(marks.processes(killed)).toEqual([]);
  expect(marks.processes(spared)).toHaveLength(1);
  expect(two.status).toBe("running");
});

test("without tags, the death of the host ends the groups of its shells and the processes with their variable", async ({
  annotate,
}) => {
  const marks = new Mark();
  const dir = directory();
  const stateRoot = join(dir, "state");
  const started = FOUND.map(({ kind }) => ({ kind, mark: marks.next() }));
  const commands = started.map(
    ({ kind, mark }) => `${escapeCommand(kind, mark, dir)}; echo ready; sleep ${marks.next()}`,
  );
  const host = await startHost({ options: { stateRoot, containment: "best-effort" }, commands }, dir);
  expect(host.containment).toBe("best-effort");
  for (const { kind, mark } of started) await escaped(kind, mark, marks);
  host.child.kill("SIGKILL");
  await host.exited;
  const began = performance.now();
  await eventually(() => expect(marks.processes()).toEqual([]));
  await annotate(`nothing left after ${Math.round(performance.now() - began)} ms`);
  await eventually(() => expect(processesWith(stateRoot)).toEqual([]));
});

test("without tags, the background process of a finished shell ends with the host", async () => {
  const marks = new Mark();
  const dir = directory();
  const options = { stateRoot: join(dir, "state"), containment: "best-effort" as const };
  const host = await startHost({ options, commands: [`sleep ${marks.next()} & echo ready`] }, dir);
  await eventually(() => expect(marks.processes()).toHaveLength(1));
  host.child.kill("SIGKILL");
  await host.exited;
  await eventually(() => expect(marks.processes()).toEqual([]));
});
