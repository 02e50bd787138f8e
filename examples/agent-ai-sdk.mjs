// An agent with the Vercel AI SDK. The model is a local fake; replace it with a real provider.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs } from "ai";
import { createToolkit } from "nacre";
import { aiSdkTools } from "nacre/ai-sdk";
import { fakeModel } from "./fake-model.mjs";

const fake = await fakeModel({ name: "Bash", input: { command: "echo hello from bash" } });
const kit = await createToolkit({ workingDir: process.cwd() });
try {
  const provider = createOpenAICompatible({ name: "fake", baseURL: fake.url });
  const { text } = await generateText({
    model: provider("fake"),
    tools: aiSdkTools(kit),
    stopWhen: stepCountIs(5),
    prompt: "Say hello from bash.",
  });
  console.log(text);
} finally {
  await kit.dispose();
  fake.close();
}
