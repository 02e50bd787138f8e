import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("Feature: Bash Tool - Background Execution", () => {
  test("Start background command", async () => {
    const command = "sleep 5 && echo done";
    const result = await tools().bash(command, { run_in_background: true });
    expect(result).toMatchObject({ success: true, metadata: { command } });
    const id = String(result.metadata["bash_id"]);
    expect(id).toMatch(/^shell_[0-9a-f]{8,}$/);
    expect(result.output).toContain(`Started background shell: ${id}\n`);
    expect(result.output).toContain(command);
    expect(result.output).toContain(`BashOutput with bash_id="${id}"`);
  });

  test("Background command returns immediately", async () => {
    const { bash, manager } = tools();
    await manager.warmUp();
    const started = performance.now();
    const result = await bash("sleep 60", { run_in_background: true });
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(manager.getShell(String(result.metadata["bash_id"]))).toMatchObject({ isRunning: true });
  });
});
