// The kernel limits the number of processes of these fork bombs (fixtures/bomb.ts). Both tests are in one
// file, so they run one after the other: in parallel they would share one process limit.
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bomb } from "../fixtures/bomb.ts";
import { useHosts } from "../fixtures/host-program.ts";
import { processesWith } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();
const startHost = useHosts();

test("a fork bomb is killed while it forks, and the host stays responsive", async ({ annotate }) => {
  const bomb = new Bomb(directory());
  const shells = manager();
  const shell = await shells.createShell({ command: bomb.command, workingDir: "/" });
  try {
    await bomb.grown();
    let longest = 0;
    let last = performance.now();
    const pulse = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const began = performance.now();
    const report = await shell.kill({ graceMs: 0 });
    clearInterval(pulse);
    await annotate(
      `killed in ${Math.round(performance.now() - began)} ms, longest pause ${Math.round(longest)} ms`,
    );
    expect(bomb.processes()).toEqual([]);
    expect(report.survivors).toEqual([]);
    expect(report.signalled.length).toBeGreaterThan(50);
    expect(shell.status).toBe("killed");
    expect(longest).toBeLessThan(2_000);
  } finally {
    bomb.defuse();
  }
  expect((await run(shells, "echo fine")).getAllOutput()).toBe("fine\n");
});

test("a fork bomb that ignores hang-ups ends with its host", async ({ annotate }) => {
  const dir = directory();
  const bomb = new Bomb(dir);
  const commands = [`echo ready; ${bomb.command}`];
  const host = await startHost({ options: { stateRoot: join(dir, "state") }, commands }, dir);
  try {
    await bomb.grown();
    host.child.kill("SIGKILL");
    await host.exited;
    const began = performance.now();
    // The keeper scans once and exits, so a process that this scan misses is never killed.
    await eventually(() => expect(processesWith(`${join(dir, "state")}/keepers`)).toEqual([]), 10_000);
    await annotate(`the keeper was done after ${Math.round(performance.now() - began)} ms`);
    expect(bomb.processes()).toEqual([]);
  } finally {
    bomb.defuse();
  }
});
