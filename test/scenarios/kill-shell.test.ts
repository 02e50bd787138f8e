import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("Feature: KillShell Tool", () => {
  test("Kill running shell", async () => {
    const { start, call } = tools();
    const shell = await start("sleep 300");
    const result = await call("KillShell", { shell_id: shell.id });
    expect(result).toMatchObject({ success: true, output: `Shell ${shell.id} terminated` });
    expect(shell).toMatchObject({ status: "killed", isRunning: false });
  });

  test("Kill already stopped shell", async () => {
    const { start, call } = tools();
    const shell = await start("true");
    await shell.wait(10_000);
    expect(await call("KillShell", { shell_id: shell.id })).toMatchObject({
      success: true,
      output: `Shell ${shell.id} already stopped (status: completed)`,
      metadata: { already_stopped: true, status: "completed" },
    });
  });

  test("Kill non-existent shell", async () => {
    const result = await tools().call("KillShell", { shell_id: "shell_nonexistent" });
    expect(result).toMatchObject({ success: false, code: "shell_not_found" });
    expect(result.error).toContain("Shell not found: shell_nonexistent");
  });

  test("Kill shell returns metadata", async () => {
    const { start, call } = tools();
    const command = `sleep ${new Mark().next()}`;
    const shell = await start(`${command}; true`);
    const { metadata } = await call("KillShell", { shell_id: shell.id });
    expect(metadata).toMatchObject({
      shell_id: shell.id,
      command: `${command}; true`,
      duration_ms: shell.durationMs,
      survivors: [],
    });
    expect(metadata["signalled"]).toContainEqual({
      pid: shell.started.commandPid,
      command: expect.any(String),
    });
  });
});
