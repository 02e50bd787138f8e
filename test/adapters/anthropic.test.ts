import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { anthropicBash, anthropicTools } from "../../src/adapters/anthropic.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit();
type Tools = Parameters<Anthropic["beta"]["messages"]["toolRunner"]>[0]["tools"];

/** Simulates a model that calls the tool once per input, in order. Returns the tool results that the model receives. */
async function conversation(tools: Tools, name: string, inputs: readonly object[]) {
  const results: { is_error?: boolean; content: string }[] = [];
  let turn = 0;
  const client = new Anthropic({
    apiKey: "none",
    fetch: async (_url, request) => {
      const { messages } = JSON.parse(String(request?.body));
      const last = messages.at(-1);
      if (last.role === "user" && Array.isArray(last.content)) results.push(last.content[0]);
      const input = inputs[turn++];
      const content = input
        ? [{ type: "tool_use", id: `call-${turn}`, name, input }]
        : [{ type: "text", text: "done" }];
      const message = {
        id: "msg",
        type: "message",
        role: "assistant",
        model: "fake",
        content,
        stop_reason: input ? "tool_use" : "end_turn",
        usage: { input_tokens: 1, output_tokens: 1 },
      };
      return new Response(JSON.stringify(message), { headers: { "content-type": "application/json" } });
    },
  });
  await client.beta.messages.toolRunner({
    model: "fake",
    max_tokens: 100,
    messages: [{ role: "user", content: "go" }],
    tools,
  });
  return results;
}

test("the tool runner runs commands, and marks a failed command as an error", async () => {
  const results = await conversation(anthropicTools(kit()), "Bash", [
    { command: "echo from bash" },
    { command: "echo so far; exit 3" },
  ]);
  expect(results[0]).toMatchObject({ content: "from bash\n" });
  expect(results[0]?.is_error ?? false).toBe(false);
  expect(results[1]).toMatchObject({ is_error: true });
  expect(JSON.stringify(results[1]?.content)).toContain("Command failed with exit code 3");
});

test("Claude's own bash tool keeps its state until it is restarted", async () => {
  const results = await conversation([anthropicBash(kit())], "bash", [
    { command: "cd /; export GREETING=hello" },
    { command: 'echo "$GREETING from $PWD"' },
    { restart: true },
    { command: "[[ -v GREETING ]] || echo nothing" },
  ]);
  expect(results.map(({ content }) => content).slice(1)).toEqual([
    "hello from /\n",
    "The shell has been restarted.",
    "nothing\n",
  ]);
});

test("if a call of Claude's bash tool has no command, the error names the missing parameter", async () => {
  const results = await conversation([anthropicBash(kit())], "bash", [{}]);
  expect(results[0]).toMatchObject({ is_error: true });
  expect(JSON.stringify(results[0]?.content)).toContain("command");
});
