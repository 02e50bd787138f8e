import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createToolkit, type ToolkitOptions } from "../src/toolkit.ts";
import { Mark } from "./fixtures/marked.ts";
import { useShells } from "./fixtures/shells.ts";

const { directory } = useShells();

const kitIn = (workingDir: string, options: Partial<ToolkitOptions> = {}) =>
  createToolkit({ workingDir, stateRoot: join(workingDir, "state"), ...options });

describe("a toolkit", () => {
  test("of the shells dialect runs commands, and reads and ends shells", async () => {
    const dir = directory();
    await using kit = await kitIn(dir);
    expect(await kit.call("Bash", { command: "pwd" })).toMatchObject({ success: true, output: `${dir}\n` });
    const failed = await kit.call("Bash", { command: "exit 1" });
    expect([failed.success, failed.metadata["exit_code"], failed.error]).toEqual([
      false,
      1,
      "Command failed with exit code 1",
    ]);
    const started = await kit.call("Bash", { command: "echo up; sleep 300", run_in_background: true });
    const { bash_id = "" } = started.metadata;
    expect((await kit.call("BashOutput", { bash_id, wait_for: "up" })).output).toContain("up");
    expect((await kit.call("KillShell", { shell_id: bash_id })).metadata).toMatchObject({ survivors: [] });
    expect(kit.executor.history()).toHaveLength(5);
    expect(await kit.call("bash" as string, {})).toMatchObject({ code: "unknown_tool" });
  });

  test("of the modes dialect has one tool, whose description names the directory", async () => {
    const dir = directory();
    await using kit = await kitIn(dir, { dialect: "modes" });
    const [schema, ...more] = kit.schemas("anthropic");
    expect(more).toEqual([]);
    expect(schema).toMatchObject({ name: "bash", input_schema: { required: ["command"] } });
    expect(schema?.description).toContain(`<pwd>${dir}</pwd>`);
    expect((await kit.call("bash", { command: "pwd; pwd >&2" })).output).toBe(`${dir}\n${dir}\n`);
  });

  test("describes its tools for every provider", async () => {
    await using kit = await kitIn(directory());
    const names = ["Bash", "BashOutput", "KillShell"];
    expect(kit.schemas("anthropic").map(({ name }) => name)).toEqual(names);
    expect(kit.schemas("openai").map((tool) => tool.function.name)).toEqual(names);
    expect(kit.schemas("gemini").map(({ name }) => name)).toEqual(names);
    expect(kit.schemas("mcp").map(({ name, title }) => [name, title])).toEqual([
      ["Bash", "Run a command"],
      ["BashOutput", "Read a background shell"],
      ["KillShell", "End a background shell"],
    ]);
  });

  test("returns the verdict of the policy without running the command", async () => {
    await using kit = await kitIn(directory());
    expect(kit.check("sudo rm -rf /")).toMatchObject({
      verdict: "deny",
      rule: expect.any(String),
      reason: expect.any(String),
      alternative: expect.any(String),
    });
    expect(kit.check("ls -la")).toMatchObject({ verdict: "allow", rule: null });
    expect(kit.manager.listShells()).toEqual([]);
  });

  test("asks for approval through its callback, and a call can override the toolkit's options", async () => {
    const approvalRequests: string[] = [];
    await using kit = await kitIn(directory(), {
      scope: "mine",
      approve: async ({ command }) => approvalRequests.push(command) > 0,
      judge: (command) => ({
        verdict: command.includes("odd") ? "ask" : "allow",
        rule: null,
        severity: "none",
        reason: null,
        span: null,
        alternative: null,
        findings: [],
      }),
    });
    expect((await kit.call("Bash", { command: "echo odd" })).output).toBe("odd\n");
    expect(approvalRequests).toEqual(["echo odd"]);
    const workingDir = directory();
    const elsewhere = await kit.call("Bash", { command: "pwd; echo $A" }, { workingDir, env: { A: "b" } });
    expect(elsewhere.output).toBe(`${workingDir}\nb\n`);
    expect((await kit.call("Bash", { command: "echo x" }, { dryRun: true })).metadata).toMatchObject({
      dry_run: true,
    });
    expect(new Set(kit.manager.listSessions().map(({ scope }) => scope))).toEqual(new Set(["mine"]));
  });

  test("returns the sessions in which its tools run", async () => {
    const dir = directory();
    await using kit = await kitIn(dir, { scope: "mine", sessionId: "agent-1" });
    const shell = kit.session("agent-1");
    const moved = await shell.run("mkdir api && cd api && export PORT=8080; echo up; echo oops >&2; false");
    expect(moved).toMatchObject({ exitCode: 1, stdout: "up\n", stderr: "oops\n", cwd: join(dir, "api") });
    expect((await kit.call("Bash", { command: "pwd; echo $PORT" })).output).toBe(`${dir}/api\n8080\n`);
    const server = await shell.start("echo listening on $PORT; exec sleep 300");
    await server.waitFor({ pattern: /listening on 8080/, timeoutMs: 10_000 });
    expect(await server.kill()).toMatchObject({ survivors: [] });
    expect((await kit.session("other").run("pwd")).stdout).toBe(`${dir}\n`);
    expect(kit.sessions().map(({ id, scope }) => [id, scope])).toEqual([
      ["agent-1", "mine"],
      ["other", "mine"],
    ]);
    expect(await shell.interrupt()).toBe(false);
    await shell.restart();
    expect((await shell.run("pwd; echo [$PORT]")).stdout).toBe(`${dir}\n[]\n`);
    await shell.close();
    expect(kit.sessions().map(({ id }) => id)).toEqual(["other"]);
    await expect(shell.run("true")).rejects.toThrow("The session agent-1 has been closed.");
    expect((await kit.call("Bash", { command: "pwd" })).output).toBe(`${dir}\n`);
  });

  test("checks the commands of its sessions against the policy", async () => {
    await using kit = await kitIn(directory());
    const shell = kit.session();
    await expect(shell.run("sudo rm -rf /")).rejects.toMatchObject({ code: "policy_denied" });
    await expect(shell.start("sudo rm -rf /")).rejects.toMatchObject({ code: "policy_denied" });
    await shell.run("cd /");
    await expect(shell.run("rm -rf *")).rejects.toMatchObject({ code: "policy_denied" });
    await expect(shell.start("rm -rf *")).rejects.toMatchObject({ code: "policy_denied" });
  });

  test("calls its hooks before and after each call", async () => {
    const hookCalls: unknown[] = [];
    const hook = {
      before: ({ tool }: { tool: string }) => void hookCalls.push(["before", tool]),
      after: ({ tool }: { tool: string }, { success }: { success: boolean }) =>
        void hookCalls.push([tool, success]),
    };
    await using kit = await kitIn(directory(), { hooks: [hook] });
    await kit.call("Bash", { command: "true" });
    expect(hookCalls).toEqual([
      ["before", "Bash"],
      ["Bash", true],
    ]);
  });

  test("that is disposed of leaves no process running, not even a leftover started with setsid", async () => {
    const marks = new Mark();
    const kit = await kitIn(directory());
    await kit.call("Bash", { command: `sleep ${marks.next()} & setsid sleep ${marks.next()} &` });
    await kit.call("Bash", { command: `exec sleep ${marks.next()}`, run_in_background: true });
    await kit.dispose();
    expect(marks.processes()).toEqual([]);
    expect(await kit.call("Bash", { command: "echo too late" })).toMatchObject({ success: false });
  });

  test("that cannot start reports the reason", async () => {
    await expect(kitIn(directory(), { shellPath: "/nonexistent/bash" })).rejects.toThrow(/nonexistent\/bash/);
  });
});
