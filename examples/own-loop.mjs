// An agent's own loop, without an SDK, in the message format of Anthropic. The model is a script that needs no network;
// replace `model` with a request to your provider.
import { createToolkit } from "nacre";

/** What the model answers, turn by turn. */
const SCRIPT = [
  [{ type: "tool_use", id: "call_1", name: "Bash", input: { command: "cat greeting.txt" } }],
  // A tool that does not exist: the result names the tools that do.
  [{ type: "tool_use", id: "call_2", name: "Shell", input: { command: "ls" } }],
  // Models in OpenAI's strict mode send null for each parameter that they do not use.
  [{ type: "tool_use", id: "call_3", name: "Bash", input: { command: "echo hello", timeout: null } }],
  [{ type: "text", text: "I said hello." }],
];

let turn = 0;
async function model(_request) {
  return { content: SCRIPT[turn++] };
}

const kit = await createToolkit({ workingDir: process.cwd() });
const messages = [{ role: "user", content: "Say hello." }];
try {
  for (;;) {
    const { content } = await model({ messages, tools: kit.schemas("anthropic") });
    messages.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) break;
    const results = [];
    for (const block of calls) {
      const result = await kit.call(block.name, block.input);
      console.log(`${block.name} ${result.code ?? "ok"}: ${result.toDisplay().split("\n")[0]}`);
      results.push({
        type: "tool_result",
        tool_use_id: block.id,
        content: result.toDisplay(),
        is_error: !result.success,
      });
    }
    messages.push({ role: "user", content: results });
  }
  console.log(messages.at(-1).content[0].text);
} finally {
  await kit.dispose();
}
