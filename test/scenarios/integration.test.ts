import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("Feature: Integration Tests", () => {
  test("Full background command workflow", async () => {
    const { bash, call } = tools();
    const started = await bash("echo begun; sleep 0.3; echo result: 42", { run_in_background: true });
    expect(started.success).toBe(true);
    const { bash_id } = started.metadata;
    const progress = await call("BashOutput", { bash_id, wait_for: "begun" });
    expect(progress).toMatchObject({ success: true });
    expect(progress.output).toContain("begun");
    const final = await call("BashOutput", { bash_id, wait_for: "exit" });
    expect(final).toMatchObject({ success: true, metadata: { status: "completed", exit_code: 0 } });
    expect(final.output).toContain("result: 42");
  });

  test("Kill and verify workflow", async () => {
    const { start, read, call } = tools();
    const shell = await start("sleep 300");
    expect((await read(shell)).metadata).toMatchObject({ status: "running", is_running: true });
    expect((await call("KillShell", { shell_id: shell.id })).success).toBe(true);
    expect((await read(shell)).metadata).toMatchObject({ status: "killed", is_running: false });
  });

  test("Multiple concurrent shells", async () => {
    const { start, read, manager } = tools();
    const shells = await Promise.all([1, 2, 3, 4, 5].map((n) => start(`echo shell ${n}; sleep 300`)));
    expect(new Set(shells.map(({ id }) => id)).size).toBe(5);
    expect(new Set(manager.listShells())).toEqual(new Set(shells));
    const outputs = await Promise.all(shells.map((shell) => read(shell, { wait_for: "shell" })));
    expect(outputs.map(({ output }) => output)).toEqual(
      [1, 2, 3, 4, 5].map((n) => `Status: running\n\nshell ${n}\n`),
    );
  });

  test("Timeout does not affect other shells", async () => {
    const { talker, bash, read } = tools();
    const { shell, say } = await talker();
    say("echo before");
    expect(await bash("sleep 300", { timeout: 1000 })).toMatchObject({ code: "timed_out" });
    say("echo after");
    const result = await read(shell, { wait_for: "after" });
    expect(result.metadata).toMatchObject({ status: "running" });
    expect(result.output).toBe("Status: running\n\nbefore\nafter\n");
  });
});
