import { invokeFunctionTool, RunContext, type ShellTool } from "@openai/agents";
import { expect, test } from "vitest";
import { openaiAgentsTools, openaiShellTool } from "../../src/adapters/openai-agents.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit();

async function invoke(name: string, input: object): Promise<unknown> {
  const tool = openaiAgentsTools(kit()).find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`There is no ${name}.`);
  return invokeFunctionTool({ tool, runContext: new RunContext(), input: JSON.stringify(input) });
}

async function shell(commands: string[], limits: { timeoutMs?: number; maxOutputLength?: number } = {}) {
  const tool: ShellTool = openaiShellTool(kit());
  if (!tool.shell) throw new Error("The shell tool is not local.");
  return await tool.shell.run({ commands, ...limits });
}

test("function tools run a command and return the text for the model", async () => {
  expect(await invoke("Bash", { command: "echo from bash" })).toBe("from bash\n");
  expect(await invoke("Bash", { command: "exit 3" })).toContain("Command failed with exit code 3");
});

test("the tool explains a wrong argument", async () => {
  expect(await invoke("Bash", { comand: "ls" })).toContain("command");
});

test("the shell tool runs its commands in order, each with its own outcome", async () => {
  const { output } = await shell(["cd /; export GREETING=hello", 'echo "$GREETING from $PWD"', "exit 4"]);
  expect(output.map(({ outcome }) => outcome)).toEqual([
    { type: "exit", exitCode: 0 },
    { type: "exit", exitCode: 0 },
    { type: "exit", exitCode: 4 },
  ]);
  expect(output[1]?.stdout).toBe("hello from /\n");
});

test("the shell tool distinguishes a timeout from an exit, and keeps the output", async () => {
  const { output } = await shell(["echo so far; sleep 300"], { timeoutMs: 1_000 });
  expect(output).toMatchObject([{ outcome: { type: "timeout" } }]);
  expect(output[0]?.stdout).toContain("so far");
});

test("the shell tool respects the length limit, and reports why a command was not run", async () => {
  const { output } = await shell(["echo 0123456789"], { maxOutputLength: 4 });
  expect(output[0]?.stdout).toBe("0123");
  const refused = await shell(["rm -rf /"]);
  expect(refused.output[0]).toMatchObject({ stdout: "", outcome: { type: "exit", exitCode: null } });
  expect(refused.output[0]?.stderr).toContain("blocked");
});
