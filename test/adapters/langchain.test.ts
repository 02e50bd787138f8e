import { ToolMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { langchainTools } from "../../src/adapters/langchain.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit();

async function call(name: string, args: Record<string, unknown>, signal?: AbortSignal) {
  const tool = langchainTools(kit()).find((candidate) => candidate.name === name);
  const message = await tool?.invoke(
    { type: "tool_call", id: "call-1", name, args },
    signal ? { signal } : {},
  );
  expect(message).toBeInstanceOf(ToolMessage);
  return message as ToolMessage;
}

test("LangChain runs a command; the message contains the output, and the artifact is the complete result", async () => {
  const message = await call("Bash", { command: "echo from bash" });
  expect(message.content).toBe("from bash\n");
  expect(message.artifact).toMatchObject({ success: true, metadata: { exit_code: 0 } });
});

test("a failed command is an error for the model", async () => {
  const message = await call("Bash", { command: "exit 3" });
  expect(message.content).toContain("Command failed with exit code 3");
  expect(message.artifact).toMatchObject({ success: false, code: "exit_nonzero" });
});

test("every tool of the toolkit is available, with a description and its parameters", () => {
  const tools = langchainTools(kit());
  expect(tools.map(({ name }) => name).sort()).toEqual(["Bash", "BashOutput", "KillShell"]);
  for (const tool of tools) expect(tool).toMatchObject({ schema: { type: "object" } });
});
