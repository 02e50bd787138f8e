// An agent with Anthropic's SDK, on the bash tool that Claude knows by training. The model is a fake one on
// loopback; leave baseURL and apiKey out for the real one.
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
