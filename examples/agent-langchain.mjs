// An agent with LangChain, with an explicit loop. The model is a local fake.
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { createToolkit } from "nacre";
import { langchainTools } from "nacre/langchain";
import { fakeModel } from "./fake-model.mjs";

const fake = await fakeModel({ name: "Bash", input: { command: "echo hello from bash" } });
const kit = await createToolkit({ workingDir: process.cwd() });
try {
  const tools = langchainTools(kit);
  const model = new ChatOpenAI({ model: "fake", apiKey: "none", configuration: { baseURL: fake.url } });
  const messages = [new HumanMessage("Say hello from bash.")];
  for (;;) {
    const answer = await model.bindTools(tools).invoke(messages);
    messages.push(answer);
    if (!answer.tool_calls?.length) break;
    for (const call of answer.tool_calls) {
      const tool = tools.find(({ name }) => name === call.name);
      messages.push(await tool.invoke(call));
    }
  }
  console.log(messages.at(-1).content);
} finally {
  await kit.dispose();
  fake.close();
}
