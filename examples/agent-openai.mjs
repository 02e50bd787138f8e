// An agent with the OpenAI Agents SDK. The model is a local fake; remove modelProvider to use a model of OpenAI.
import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import { createToolkit } from "nacre";
import { openaiAgentsTools } from "nacre/openai-agents";
import { fakeModel } from "./fake-model.mjs";

const fake = await fakeModel({ name: "Bash", input: { command: "echo hello from bash" } });
const kit = await createToolkit({ workingDir: process.cwd() });
try {
  const agent = new Agent({ name: "Worker", model: "fake", tools: openaiAgentsTools(kit) });
  const modelProvider = new OpenAIProvider({ baseURL: fake.url, apiKey: "none", useResponses: false });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const { finalOutput } = await runner.run(agent, "Say hello from bash.");
  console.log(finalOutput);
} finally {
  await kit.dispose();
  fake.close();
}
