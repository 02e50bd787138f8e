// These tests call each file tool once through MCP, the AI SDK, OpenAI Agents, Anthropic and LangChain.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { invokeFunctionTool, RunContext } from "@openai/agents";
import { beforeEach, describe, expect, test } from "vitest";
import { aiSdkTools } from "../../src/adapters/ai-sdk.ts";
import { anthropicTools } from "../../src/adapters/anthropic.ts";
import { langchainTools } from "../../src/adapters/langchain.ts";
import { openaiAgentsTools } from "../../src/adapters/openai-agents.ts";
import type { ToolResult } from "../../src/tool/result.ts";
import { useFileTools } from "../fixtures/file-tools.ts";
import { useMcp } from "../mcp/mcp-clients.ts";

const world = useFileTools();
const { kit } = world;
const mcp = useMcp();
const FILE_TOOLS = ["Read", "Write", "Edit", "Glob", "Grep"];

type Call = (name: string, args: Record<string, unknown>) => Promise<string>;

/** Uses each tool once, in a directory with a.txt. */
async function useAll(call: Call, dir: string): Promise<void> {
  writeFileSync(join(dir, "a.txt"), "one\n");
  expect(await call("Read", { file_path: "a.txt" })).toContain("1\tone");
  expect(await call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })).toContain(
    "Edited",
  );
  expect(await call("Write", { file_path: "b.txt", content: "two\n" })).toContain("Created");
  expect(await call("Glob", { pattern: "*.txt" })).toBe("a.txt\nb.txt\n");
  expect(await call("Grep", { pattern: "two", output_mode: "content" })).toBe("a.txt:1:two\nb.txt:1:two\n");
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("two\n");
}

describe("each file tool works", () => {
  let dir: string;
  beforeEach(() => {
    dir = world.work();
  });

  test("through MCP", async () => {
    const { client, dir: work, call } = await mcp.inProcess({ with: ["files"] });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["Bash", "BashOutput", "KillShell", ...FILE_TOOLS]);
    for (const { inputSchema } of tools)
      expect([inputSchema.type, inputSchema["anyOf"]]).toEqual(["object", undefined]);
    await useAll(async (name, args) => {
      const { content } = await call(name, args);
      const [part] = content;
      return part?.type === "text" ? part.text : "";
    }, work);
  });

  test("through the AI SDK", async () => {
    const tools = aiSdkTools(kit()) as Record<
      string,
      { execute?: (input: unknown, options: never) => unknown }
    >;
    await useAll(async (name, args) => {
      const options = { toolCallId: "call", messages: [] } as never;
      const result = (await tools[name]?.execute?.(args, options)) as ToolResult | undefined;
      return result?.toDisplay() ?? "";
    }, dir);
  });

  test("through OpenAI Agents", async () => {
    const tools = openaiAgentsTools(kit());
    await useAll(async (name, args) => {
      const tool = tools.find((one) => (one.name as string) === name);
      if (!tool) throw new Error(`There is no ${name}.`);
      return String(
        await invokeFunctionTool({ tool, runContext: new RunContext(), input: JSON.stringify(args) }),
      );
    }, dir);
  });

  test("through Anthropic", async () => {
    const tools = anthropicTools(kit());
    await useAll(async (name, args) => {
      const tool = tools.find((one) => (one.name as string) === name);
      return String(await tool?.run(args));
    }, dir);
  });

  test("through LangChain", async () => {
    const tools = langchainTools(kit());
    await useAll(async (name, args) => {
      const tool = tools.find((one) => (one.name as string) === name);
      const message = await tool?.invoke({ type: "tool_call", id: "call", name, args });
      return String((message as { content: unknown }).content);
    }, dir);
  });
});

test.each(["mcp", "openai", "openai-strict", "anthropic", "gemini"] as const)(
  "the format %s has a schema for each file tool",
  (format) => {
    const text = JSON.stringify(kit().schemas(format));
    for (const name of FILE_TOOLS) expect(text).toContain(`"name":"${name}"`);
  },
);

test("the file tools are off by default", async () => {
  const plain = await world.open({ with: [] });
  expect(plain.registry.listNames()).toEqual(["Bash", "BashOutput", "KillShell"]);
  expect(await plain.call("Read", { file_path: "a" })).toMatchObject({ code: "unknown_tool" });
  await expect(world.open({ with: ["file"] as never })).rejects.toThrow(/with/);
});

test("the types check the parameters of the file tools", async () => {
  writeFileSync(world.path("a.txt"), "a\n");
  const read = await kit().call("Read", { file_path: "a.txt" });
  if (read.success) expect(read.metadata.total_lines).toBe(1);
  // @ts-expect-error: the name of the parameter is file_path.
  expect(await kit().call("Read", { path: "a.txt" })).toMatchObject({ code: "invalid_input" });
});
