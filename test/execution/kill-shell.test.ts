import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { KillShellTool } from "../../src/execution/kill-shell.ts";
import { KILL_GRACE_MS } from "../../src/support/limits.ts";
import { withHeldShim } from "../fixtures/held-shells.ts";
import { Mark } from "../fixtures/marked.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("killing", () => {
  test("returns one flat object with the documented keys", async () => {
    const { start, call } = tools();
    const shell = await start("exec sleep 300");
    expect((await call("KillShell", { shell_id: shell.id })).toWire()).toEqual({
      output: `Shell ${shell.id} terminated`,
      shell_id: shell.id,
      command: "exec sleep 300",
      duration_ms: shell.durationMs,
      signalled: [{ pid: shell.started.commandPid, command: expect.any(String) }],
      survivors: [],
      status: "killed",
      notes: [],
    });
  });

  test("ends processes that left the process group or cleared their environment, but not another shell", async () => {
    const { start, call } = tools();
    const marks = new Mark();
    const [near, far, other] = [marks.next(), marks.next(), marks.next()];
    const bystander = await start(`exec sleep ${other}`);
    const shell = await start(`setsid sleep ${far} & (env -i sleep ${near} &); echo up; wait`);
    await shell.waitFor({ pattern: /up/ }, 10_000);
    const result = await call("KillShell", { shell_id: shell.id });
    expect(result.metadata["survivors"]).toEqual([]);
    expect([marks.processes(near), marks.processes(far)]).toEqual([[], []]);
    expect(bystander.isRunning).toBe(true);
  });

  test("succeeds a second time, and the status stays killed", async () => {
    const { start, call, read } = tools();
    const shell = await start("trap 'echo asked to end; exit 9' TERM; echo up; sleep 300 & wait");
    await shell.waitFor({ pattern: /up/ }, 10_000);
    expect((await call("KillShell", { shell_id: shell.id })).output).toBe(`Shell ${shell.id} terminated`);
    const again = await call("KillShell", { shell_id: shell.id });
    expect(again).toMatchObject({
      success: true,
      output: `Shell ${shell.id} already stopped (status: killed)`,
      metadata: { already_stopped: true, status: "killed", signalled: [], survivors: [] },
    });
    const result = await read(shell);
    expect(result.metadata).toMatchObject({ status: "killed" });
    expect(result.output).toContain("up\nasked to end\n");
  });

  test("does not wait long for processes that ignore TERM", async () => {
    const { start, call } = tools();
    const shell = await start("trap '' TERM INT; echo up; while :; do sleep 60; done");
    await shell.waitFor({ pattern: /up/ }, 10_000);
    const started = performance.now();
    expect((await call("KillShell", { shell_id: shell.id })).metadata).toMatchObject({ status: "killed" });
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(shell.exitCode).toBe(137);
  });

  test("all shells takes a bounded time, even if they ignore signals", async () => {
    const { start, manager } = tools({ shells: { killGraceMs: 200 } });
    const stubborn = "trap '' TERM INT; echo up; sleep 60";
    const shells = await Promise.all([1, 2, 3].map(() => start(stubborn, { workingDir: tmpdir() })));
    await Promise.all(shells.map((shell) => shell.waitFor({ pattern: /up/ }, 10_000)));
    const started = performance.now();
    expect(await manager.killAll()).toBe(3);
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(shells.map(({ status }) => status)).toEqual(["killed", "killed", "killed"]);
  });
});

test("a shell that is still running after a kill is not reported as terminated", async () => {
  const { start, manager, context } = tools();
  const shell = await start("kill -STOP $PPID; echo up; sleep 300");
  await shell.waitFor({ pattern: /up/ }, 10_000);
  const held = await withHeldShim(shell);
  const tool = new KillShellTool({ manager: Object.create(manager, { getShell: { value: () => held } }) });
  const result = await tool.execute(context(), { shell_id: shell.id });
  expect(result).toMatchObject({ success: false, code: "timed_out", metadata: { status: "running" } });
  expect(result.toDisplay()).not.toContain("terminated");
  expect(result.toDisplay()).toContain(`pid ${held.started.shimPid}`);
});

test("a shell whose command has stopped its shim is terminated like any other shell", async () => {
  const { start, call } = tools();
  const shell = await start("kill -STOP $PPID; echo up; sleep 300");
  await shell.waitFor({ pattern: /up/ }, 10_000);
  const result = await call("KillShell", { shell_id: shell.id });
  expect(result.output).toBe(`Shell ${shell.id} terminated`);
  expect(result.metadata).toMatchObject({ status: "killed", survivors: [] });
});

test("the description states the grace period of the manager", () => {
  const description = (options: Parameters<typeof tools>[0]) =>
    new KillShellTool({ manager: tools(options).manager }).description;
  expect(description({ shells: { killGraceMs: 700 } })).toContain("still run 0.7 s later");
  expect(description({})).toContain(`still run ${KILL_GRACE_MS / 1000} s later`);
});
