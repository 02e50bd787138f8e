// nacre runs inside nacre: a shell's command is a host with its own shells.
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import type { ShellManager } from "../../src/shell-manager.ts";
import { escapeCommand, escaped } from "../fixtures/escapes.ts";
import { hostCommand, type KilledShell, type ReadyHost, useHosts } from "../fixtures/host-program.ts";
import { Mark, processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory } = useShells();
const startHost = useHosts();

/** Starts an outer shell whose command is a host; resolves when the host's own shells are ready. */
async function startNested(
  shells: ShellManager,
  dir: string,
  commands: readonly string[],
): Promise<{ outer: ShellProcess; inner: ReadyHost }> {
  const command = hostCommand({ options: { stateRoot: join(dir, "inner") }, commands }, dir);
  const outer = await shells.createShell({ command, workingDir: tmpdir() });
  return { outer, inner: (await eventOf(outer, "ready")) as ReadyHost };
}

async function eventOf(shell: ShellProcess, event: string): Promise<unknown> {
  const found = await shell.waitFor({ pattern: new RegExp(`^\\{"event":"${event}".*\\}$`) }, 20_000);
  return JSON.parse(found.kind === "matched" ? found.line : "null");
}

test("killing the outer shell ends everything the inner host has started", async () => {
  const shells = manager();
  const marks = new Mark();
  const dir = directory();
  const mark = marks.next();
  const { outer, inner } = await startNested(shells, dir, [
    `${escapeCommand("bare-daemon", mark, dir)}; echo ready; sleep ${marks.next()}`,
  ]);
  expect(inner.containment).toBe("tag");
  await escaped("bare-daemon", mark, marks);
  const report = await outer.kill();
  expect(report.survivors).toEqual([]);
  expect(marks.processes()).toEqual([]);
  // The inner keeper, shims and loggers are gone, too.
  expect(processesWith(join(dir, "inner"))).toEqual([]);
  expect(outer.status).toBe("killed");
});

test("killing an inner shell does not affect the other inner shell, the inner host and the outer shell", async () => {
  const shells = manager();
  const marks = new Mark();
  const dir = directory();
  const [killed, spared, outside] = [marks.next(), marks.next(), marks.next()];
  const neighbour = await shells.createShell({ command: `sleep ${outside}`, workingDir: tmpdir() });
  const { outer, inner } = await startNested(shells, dir, [
    `echo ready; sleep ${killed}`,
    `echo ready; sleep ${spared}`,
  ]);
  await eventually(() => expect(marks.processes()).toHaveLength(3));
  process.kill(inner.pid, "SIGUSR2");
  const { status, report } = (await eventOf(outer, "killed")) as KilledShell;
  expect(status).toBe("killed");
  expect(report.survivors).toEqual([]);
  expect(marks.processes(killed)).toEqual([]);
  expect(marks.processes(spared)).toHaveLength(1);
  expect(marks.processes(outside)).toHaveLength(1);
  expect([outer.status, neighbour.status]).toEqual(["running", "running"]);
});

test("killing one outer shell does not affect the host inside another outer shell", async () => {
  const shells = manager();
  const marks = new Mark();
  const [firstDir, secondDir] = [directory(), directory()];
  const [first, second] = [marks.next(), marks.next()];
  const one = await startNested(shells, firstDir, [`echo ready; sleep ${first}`]);
  const two = await startNested(shells, secondDir, [`echo ready; sleep ${second}`]);
  await eventually(() => expect(marks.processes()).toHaveLength(2));
  await one.outer.kill();
  expect(marks.processes(first)).toEqual([]);
  expect(marks.processes(second)).toHaveLength(1);
  expect(two.outer.status).toBe("running");
});

test("the death of the inner host ends its shells, and the outer shell reports this death", async () => {
  const shells = manager();
  const marks = new Mark();
  const dir = directory();
  const { outer, inner } = await startNested(shells, dir, [`echo ready; setsid sleep ${marks.next()}`]);
  process.kill(inner.pid, "SIGKILL");
  expect(await outer.wait(20_000)).toBe(137);
  await eventually(() => expect(marks.processes()).toEqual([]));
  await eventually(() => expect(processesWith(join(dir, "inner"))).toEqual([]));
});

test("three nested hosts are contained by tags, and all end with the outermost host", async () => {
  const marks = new Mark();
  const dir = directory();
  const mark = marks.next();
  const root = (name: string) => ({ stateRoot: join(dir, name) });
  const command = `${escapeCommand("bare-daemon", mark, dir)}; echo ready; sleep ${marks.next()}`;
  // tee saves the output of the inner host, which reports the host's level of containment.
  const innermost = hostCommand({ options: root("third"), commands: [command] }, dir);
  const middle = hostCommand(
    { options: root("second"), commands: [`${innermost} | tee ${dir}/third.log | sed -u s/.*/ready/`] },
    dir,
  );
  const host = await startHost(
    { options: root("first"), commands: [`${middle} | tee ${dir}/second.log | sed -u s/.*/ready/`] },
    dir,
  );
  await escaped("bare-daemon", mark, marks);
  expect(host.containment).toBe("tag");
  expect(readyIn(`${dir}/second.log`).containment).toBe("tag");
  expect(readyIn(`${dir}/third.log`).containment).toBe("tag");
  host.child.kill("SIGKILL");
  await host.exited;
  await eventually(() => expect(marks.processes()).toEqual([]));
  await eventually(() => expect(processesWith(dir)).toEqual([]));
});

function readyIn(path: string): ReadyHost {
  return JSON.parse(readFileSync(path, "utf8"));
}
