import { describe, expect, test } from "vitest";
import { useTools } from "../fixtures/tools.ts";

const { tools } = useTools();

describe("a timeout", () => {
  test.each([
    [0, /timeout must be at least 1000, got 0/],
    [999, /timeout must be at least 1000, got 999/],
    [
      30,
      /^Parameter timeout must be at least 1000, got 30\. Its unit is milliseconds: for 30 seconds give 30000$/,
    ],
    [600_001, /Timeout exceeds maximum: 600000ms/],
    [-1, /timeout must be at least 1000, got -1/],
    [1.5, /timeout must be an integer, got 1.5/],
    ["1000", /timeout must be an integer, got the string "1000"/],
  ])("of %j is refused, and nothing runs", async (timeout, words) => {
    const { bash, manager } = tools();
    const result = await bash("echo ran", { timeout });
    expect(result).toMatchObject({ success: false, code: "invalid_input", output: "" });
    expect(result.error).toMatch(words);
    expect(manager.findAll()).toEqual([]);
  });

  test("of 1000 and of 600000 is taken", async () => {
    const { bash } = tools();
    expect((await bash("true", { timeout: 600_000 })).success).toBe(true);
    expect((await bash("sleep 60", { timeout: 1000 })).error).toBe("Command timed out after 1000ms");
  });

  test("of the host serves calls that name none, and bounds those that do", async () => {
    const { bash } = tools({ defaultTimeoutMs: 300, maxTimeoutMs: 400 });
    expect((await bash("sleep 60")).error).toBe("Command timed out after 300ms");
    expect((await bash("sleep 60", {}, { timeoutMs: 200 })).error).toBe("Command timed out after 200ms");
    expect((await bash("sleep 60", {}, { timeoutMs: 50_000 })).error).toBe("Command timed out after 400ms");
    expect((await bash("true", { timeout: 401 })).error).toContain("Timeout exceeds maximum: 400ms");
  });
});

describe("a command", () => {
  test("that is missing, empty or no string is refused", async () => {
    const { call } = tools();
    expect((await call("Bash", {})).error).toContain("Missing required parameter: command");
    expect((await call("Bash", { command: "" })).error).toContain("command is too short");
    expect((await call("Bash", { command: ["ls"] })).error).toContain("command must be a string");
    expect((await call("bash", { command: "" })).code).toBe("invalid_input");
  });

  test.each([" ", "\n", "\t \n "])("that is blank (%j) is refused", async (command) => {
    const { call, manager } = tools();
    for (const tool of ["Bash", "bash"]) {
      expect(await call(tool, { command })).toMatchObject({
        code: "invalid_input",
        error: expect.stringContaining("The command is blank: there is nothing to run."),
        metadata: { command },
      });
    }
    expect(manager.findAll()).toEqual([]);
  });

  test("that is a comment alone succeeds with empty output", async () => {
    const { call } = tools();
    for (const tool of ["Bash", "bash"]) {
      expect(await call(tool, { command: "# nothing to do" })).toMatchObject({
        success: true,
        output: "",
        metadata: { exit_code: 0 },
      });
    }
  });

  test("with a NUL is refused with the place", async () => {
    const { call, manager } = tools();
    for (const tool of ["Bash", "bash"]) {
      const result = await call(tool, { command: "echo a\0b" });
      expect(result.code).toBe("invalid_input");
      expect(result.error).toContain("The command contains a NUL character at offset 6");
    }
    expect(manager.findAll()).toEqual([]);
  });

  test.each(['[{"a":1}]', '{"command": "ls"}', '[\n"ls"\n]'])(
    "that is JSON (%j) is refused with what to give instead",
    async (command) => {
      const { call, manager } = tools();
      for (const tool of ["Bash", "bash"]) {
        const result = await call(tool, { command });
        expect(result.code).toBe("invalid_input");
        expect(result.error).toContain(
          "The command is JSON, not bash. Give the command itself as a plain string",
        );
      }
      expect(manager.findAll()).toEqual([]);
    },
  );

  test("that begins with a bracket or a brace as bash uses them runs", async () => {
    const { bash } = tools();
    for (const command of ["[ -d . ]", "[[ -d . ]]", "{ true; }", "[ ! -f x ]"]) {
      expect([command, (await bash(command)).success]).toEqual([command, true]);
    }
  });

  test("that bash cannot read fails with exit code 2 and bash's message, and nothing runs", async () => {
    const { call, manager } = tools();
    const shells = await call("Bash", { command: "echo ran\n(a" });
    expect(shells).toMatchObject({
      success: false,
      code: "exit_nonzero",
      error: "Command failed with exit code 2",
      metadata: { exit_code: 2, truncated: false },
      notes: ["bash cannot read the command: nothing was run."],
    });
    expect(shells.output).toMatch(/^\[stderr\]\nbash: line \d+: syntax error: unexpected end of file\n$/);
    const modes = await call("bash", { command: "echo ran; fi" });
    expect(modes).toMatchObject({
      code: "exit_nonzero",
      error: "[command failed: exit code 2]",
      metadata: { exit_code: 2 },
    });
    expect(modes.output).toMatch(/^bash: line 1: syntax error near unexpected token `fi'\n/);
    expect(manager.findAll()).toEqual([]);
  });

  test("gets no parameter that does not exist", async () => {
    const result = await tools().bash("true", { cwd: "/" });
    expect(result.code).toBe("invalid_input");
    expect(result.error).toContain('Unknown parameter: "cwd". Known parameters: command, description');
  });
});
