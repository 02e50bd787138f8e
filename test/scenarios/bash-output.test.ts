import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("Feature: BashOutput Tool", () => {
  test("Get output from running shell", async () => {
    const { start, read } = tools();
    const shell = await start("while true; do echo tick; sleep 1; done");
    const result = await read(shell, { wait_for: "tick" });
    expect(result).toMatchObject({
      success: true,
      metadata: { status: "running", is_running: true, exit_code: null },
    });
    expect(result.output).toMatch(/^Status: running\n\n(tick\n)+$/);
  });

  test("Get output from completed shell", async () => {
    const { start, read } = tools();
    const shell = await start("echo hello");
    await shell.wait(10_000);
    const result = await read(shell);
    expect(result).toMatchObject({
      success: true,
      metadata: { status: "completed", exit_code: 0, is_running: false },
    });
    expect(result.output).toMatch(/^Status: completed, Exit code: 0, Duration: \d+ms\n\nhello\n$/);
  });

  test("Get only new output since last read", async () => {
    const { talker, read } = tools();
    const { shell, say } = await talker();
    say("echo one; echo two");
    const first = await read(shell, { wait_for: "two" });
    expect(first.output).toBe("Status: running\n\none\ntwo\n");
    say("echo three");
    const second = await read(shell, { wait_for: "three" });
    expect(second.output).toBe("Status: running\n\nthree\n");
    const third = await read(shell);
    expect(third.output).toBe("Status: running\n\n(no new output since last check)");
  });

  test("Shell not found", async () => {
    const result = await tools().call("BashOutput", { bash_id: "shell_nonexistent" });
    expect(result).toMatchObject({ success: false, code: "shell_not_found" });
    expect(result.error).toContain("Shell not found: shell_nonexistent");
  });

  test("Filter output with regex", async () => {
    const { start, read } = tools();
    const shell = await start("echo info 1; echo error 2; echo info 3; echo error 4");
    await shell.wait(10_000);
    const result = await read(shell, { filter: "error" });
    expect(result.success).toBe(true);
    expect(result.output.split("\n\n")[1]).toBe("error 2\nerror 4\n");
    expect(result.notes).toContain("The filter left out 2 lines.");
  });

  test("Invalid filter regex", async () => {
    const { start, read } = tools();
    const shell = await start("echo kept");
    await shell.wait(10_000);
    const result = await read(shell, { filter: "[invalid(regex" });
    expect(result).toMatchObject({ success: false, code: "invalid_input" });
    expect(result.error).toContain("Invalid filter regex: ");
    expect((await read(shell)).output).toContain("kept");
  });

  test("Get output with duration info", async () => {
    const { start, read } = tools();
    const shell = await start("exit 3");
    await shell.wait(10_000);
    const result = await read(shell);
    expect(result.output).toMatch(/^Status: failed, Exit code: 3, Duration: \d+ms\n/);
    expect(result.metadata).toMatchObject({ exit_code: 3, duration_ms: shell.durationMs });
  });
});
