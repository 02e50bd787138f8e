import { describe, expect, test } from "vitest";
import { BashTool } from "../../src/execution/bash.ts";
import { eventually } from "../fixtures/shells.ts";
import { useTools } from "../fixtures/tools.ts";

const { tools, directory } = useTools();

describe("a result on the wire", () => {
  test("of a success is one flat object with the documented keys", async () => {
    const { bash, manager } = tools({ shells: { environment: { mode: "core" } } });
    const result = await bash("printf '\\nhello\\n\\n'; echo oops >&2", { description: "Says hello" });
    expect(result.toWire()).toEqual({
      output: "\nhello\n\n[stderr]\noops\n",
      command: "printf '\\nhello\\n\\n'; echo oops >&2",
      description: "Says hello",
      exit_code: 0,
      duration_ms: expect.any(Number),
      truncated: false,
      containment: manager.containment,
      sandbox: "off",
      notes: expect.any(Array),
    });
  });

  test("of a failure has the error, its code and the output", async () => {
    const { bash, manager } = tools();
    await bash("true");
    const result = await bash("echo partly; (exit 3)");
    expect(result.toWire()).toEqual({
      output: "partly\n",
      command: "echo partly; (exit 3)",
      description: "",
      exit_code: 3,
      duration_ms: expect.any(Number),
      truncated: false,
      containment: manager.containment,
      sandbox: "off",
      error: "Command failed with exit code 3",
      error_code: "exit_nonzero",
      notes: [],
    });
    expect(result.toDisplay()).toBe("Command failed with exit code 3\npartly\n");
  });

  test("of a background start has the id and neither an exit code nor a duration", async () => {
    const { bash, manager } = tools();
    const result = await bash("sleep 300", { run_in_background: true });
    const [shell] = manager.listShells();
    expect(result.toWire()).toEqual({
      output: `Started background shell: ${shell?.id}\nCommand: sleep 300\nUse BashOutput with bash_id="${shell?.id}" to read its output (wait_for waits for a line or for "exit"), KillShell to end it.`,
      command: "sleep 300",
      description: "",
      bash_id: shell?.id,
      containment: manager.containment,
      sandbox: "off",
      notes: [],
    });
  });

  test("of a dry run is marked as such, and nothing is started", async () => {
    const { bash, manager } = tools();
    for (const args of [{}, { run_in_background: true }]) {
      expect((await bash("echo hi", args, { dryRun: true })).toWire()).toEqual({
        output: "[Dry Run] Would execute: echo hi",
        command: "echo hi",
        description: "",
        dry_run: true,
        notes: [],
      });
    }
    expect(manager.findAll()).toEqual([]);
  });
});

describe("how a command ends", () => {
  test("is reported by its exit code, with the same codes as bash", async () => {
    const { bash } = tools();
    const codes = {
      "doesntexist-nacre": 127,
      "false && true": 1,
      "false || true": 0,
      "A=(); false": 1,
      "trap 'echo bye' EXIT; exit 7": 7,
      "exec bash -c 'exit 9'": 9,
      "# first a comment\nexit 4": 4,
      "false; true": 0,
      "false | true": 0,
      "set -o pipefail; false | true": 1,
    };
    for (const [command, code] of Object.entries(codes)) {
      const { success, metadata, error } = await bash(command);
      expect([command, metadata["exit_code"]]).toEqual([command, code]);
      expect(success).toBe(code === 0);
      expect(error).toBe(code === 0 ? undefined : `Command failed with exit code ${code}`);
    }
  });

  test("by a signal is reported with the signal's name", async () => {
    const result = await tools().bash("echo last words; kill -SEGV $$");
    expect(result).toMatchObject({
      success: false,
      code: "exit_nonzero",
      error: "Command failed with exit code 139 (SIGSEGV)",
      output: "last words\n",
      metadata: { exit_code: 139, signal: "SIGSEGV" },
    });
  });

  test("by another caller's kill is reported with the name of that caller", async () => {
    const { call, bash, manager } = tools();
    const running = bash("echo up; exec sleep 300");
    const [shell] = await eventually(() => {
      const shells = manager.findAll();
      expect(shells).toHaveLength(1);
      return shells;
    });
    await shell?.waitFor({ pattern: /up/ }, 10_000);
    await call("KillShell", { shell_id: shell?.id });
    expect(await running).toMatchObject({
      code: "aborted",
      error: "Command was killed by KillShell",
      output: "up\n",
    });
  });

  test("by a SIGINT to its own process group does not affect the host", async () => {
    let received = 0;
    const listener = () => received++;
    process.on("SIGINT", listener);
    const result = await tools().bash("bash -c 'kill -INT -$$' ; echo $?; kill -INT 0");
    process.off("SIGINT", listener);
    expect(result.success).toBe(false);
    expect(received).toBe(0);
  });
});

describe("where a command runs", () => {
  test("is the working directory of the call, and the variables of the call are set", async () => {
    const { bash } = tools();
    const workingDir = directory();
    const result = await bash("pwd; echo $GREETING", {}, { workingDir, env: { GREETING: "hi there" } });
    expect(result.output).toBe(`${workingDir}\nhi there\n`);
    expect((await bash("echo [$GREETING]")).output).toBe("[]\n");
  });

  test("is refused with the documented message if it is missing or not allowed", async () => {
    const { bash, dir } = tools({ shells: { allowedRoots: [directory()] } });
    const gone = `${dir}/gone`;
    expect(await bash("true", {}, { workingDir: gone })).toMatchObject({
      code: "spawn_failed",
      error: `Failed to execute command: Working directory does not exist: ${gone}`,
      metadata: { command: "true" },
    });
    const background = await bash("true", { run_in_background: true });
    expect(background.code).toBe("spawn_failed");
    expect(background.error).toMatch(/^Failed to start background shell: Working directory is outside /);
  });
});

describe("the tool", () => {
  test("has the documented constants", () => {
    expect([BashTool.DEFAULT_TIMEOUT_MS, BashTool.MAX_TIMEOUT_MS, BashTool.MAX_OUTPUT_SIZE]).toEqual([
      120_000, 600_000, 30_000,
    ]);
  });

  test("describes its parameters with their bounds", () => {
    expect(new BashTool().toJsonSchema()).toMatchObject({
      required: ["command"],
      additionalProperties: false,
      properties: {
        command: { type: "string", minLength: 1 },
        description: { type: "string" },
        timeout: { type: "integer", minimum: 1000, maximum: 600_000 },
        run_in_background: { type: "boolean", default: false },
      },
    });
  });

  test("describes the host's options to the model", () => {
    const { description } = new BashTool({
      defaultTimeoutMs: 5_000,
      maxTimeoutMs: 7_000,
      maxOutputChars: 900,
    });
    for (const words of ["5000 ms", "at most 7000", "exceeds 900 characters", "is killed"]) {
      expect(description).toContain(words);
    }
    expect(new BashTool({ onTimeout: "background" }).description).toContain("continues in the background");
  });

  test("refuses more live background shells than a scope may have, and lists them", async () => {
    const { bash } = tools({ shells: { maxLiveShells: 1 } });
    const first = await bash("sleep 300", { run_in_background: true });
    const second = await bash("sleep 301", { run_in_background: true });
    expect(second.code).toBe("limit_reached");
    expect(second.error).toMatch(/^Failed to start background shell: /);
    expect(second.error).toContain(String(first.metadata["bash_id"]));
    expect((await bash("echo still works")).success).toBe(true);
  });
});
