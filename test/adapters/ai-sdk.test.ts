import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { expect, test } from "vitest";
import { aiSdkTools } from "../../src/adapters/ai-sdk.ts";
import { useToolkit } from "../fixtures/toolkit.ts";

const kit = useToolkit();

/** Returns a model that calls one tool and then answers "done". */
function modelThatCalls(tool: string, input: object): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const call = {
    type: "tool-call" as const,
    toolCallId: "call-1",
    toolName: tool,
    input: JSON.stringify(input),
  };
  return new MockLanguageModelV3({
    doGenerate: [
      { content: [call], finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: "text", text: "done" }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
}

async function run(tool: string, input: object) {
  const model = modelThatCalls(tool, input);
  const { text, steps } = await generateText({
    model,
    tools: aiSdkTools(kit()),
    stopWhen: stepCountIs(3),
    prompt: "go",
  });
  const toolMessage = model.doGenerateCalls[1]?.prompt.at(-1);
  return { text, result: steps[0]?.toolResults[0]?.output, toModel: JSON.stringify(toolMessage?.content) };
}

test("the AI SDK runs a command; the model gets its output, and the host gets the complete result", async () => {
  const { text, result, toModel } = await run("Bash", { command: "echo from bash" });
  expect(text).toBe("done");
  expect(result).toMatchObject({ success: true, output: "from bash\n", metadata: { exit_code: 0 } });
  expect(toModel).toContain('"type":"text","value":"from bash\\n"');
});

test("a failed command or a wrong argument is an error for the model, with the tool's message", async () => {
  const failed = await run("Bash", { command: "echo so far; exit 3" });
  expect(failed.toModel).toContain('"type":"error-text"');
  expect(failed.toModel).toContain("Command failed with exit code 3");
  const wrong = await run("Bash", { comand: "ls" });
  expect(wrong.toModel).toContain('"type":"error-text"');
  expect(wrong.result).toMatchObject({ code: "invalid_input" });
});

test("every tool of the toolkit is available under its name", () => {
  expect(Object.keys(aiSdkTools(kit())).sort()).toEqual(["Bash", "BashOutput", "KillShell"]);
});

test("an aborted run ends its command", async () => {
  const ending = new AbortController();
  const tools = aiSdkTools(kit());
  const options = { toolCallId: "call-1", messages: [], abortSignal: ending.signal };
  const running = tools["Bash"]?.execute?.({ command: "sleep 300" }, options);
  ending.abort();
  expect(await running).toMatchObject({ success: false, code: "aborted" });
});
