// An agent with Anthropic's SDK and the bash tool that Claude is trained on. The model is a local fake; remove baseURL
// and apiKey to use the real model.
import Anthropic from "@anthropic-ai/sdk";
import { createToolkit } from "nacre";
import { anthropicBash } from "nacre/anthropic";
import { fakeModel } from "./fake-model.mjs";

const fake = await fakeModel(
  { name: "bash", input: { command: "cd /; greeting=hello" } },
  { name: "bash", input: { command: 'echo "$greeting from $PWD"' } },
);
const kit = await createToolkit({ workingDir: process.cwd() });
try {
  const client = new Anthropic({ baseURL: fake.url, apiKey: "none" });
  const message = await client.beta.messages.toolRunner({
    model: "fake",
    max_tokens: 1_000,
    tools: [anthropicBash(kit)],
    messages: [{ role: "user", content: "Say hello from the root." }],
  });
  console.log(message.content[0].text);
} finally {
  await kit.dispose();
  fake.close();
}
