import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { SHELL_TRANSITIONS } from "../../src/shell/shell-status.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, manager, run } = useTools();

describe("Feature: Shell Process", () => {
  test("Get new output", async () => {
    const { shell, say } = await tools().talker();
    say("echo line1");
    await shell.waitFor({ pattern: /line1/ }, 10_000);
    expect(shell.getNewOutput()).toBe("line1\n");
    expect(shell.lastReadStdout).toBe(6);
    say("echo line2; echo line3");
    await shell.waitFor({ pattern: /line3/ }, 10_000);
    expect(shell.getNewOutput()).toBe("line2\nline3\n");
    expect(shell.lastReadStdout).toBe(18);
  });

  test("Get new output includes stderr", async () => {
    const shell = await run(manager(), "echo to stdout; echo to stderr >&2");
    expect(shell.getNewOutput({ includeStderr: true })).toBe("to stdout\n[stderr]\nto stderr\n");
  });

  test("Shell process lifecycle", async () => {
    const shells = manager();
    expect(SHELL_TRANSITIONS.pending).toContain("running");
    const ends = {
      completed: () => run(shells, "exit 0"),
      failed: () => run(shells, "exit 1"),
      timeout: () => run(shells, "sleep 300", { timeoutMs: 100 }),
      killed: async () => {
        const shell = await shells.createShell({ command: "sleep 300", workingDir: tmpdir() });
        expect(shell.status).toBe("running");
        await shell.kill();
        return shell;
      },
    };
    for (const [status, end] of Object.entries(ends)) {
      expect((await end()).status).toBe(status);
      expect(SHELL_TRANSITIONS.running).toContain(status);
    }
  });

  test("Calculate duration", async () => {
    const shell = await run(manager(), "sleep 0.5");
    expect(shell.durationMs).toBeGreaterThanOrEqual(450);
    expect(Math.abs(shell.durationMs - ((shell.completedAt ?? 0) - shell.startedAt))).toBeLessThan(5_000);
  });
});
