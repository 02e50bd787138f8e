// A local fake model: requests each of the given tool calls in turn, then repeats the last tool result. It implements the
// parts of OpenAI's chat completions and Anthropic's messages that these examples use.
import { once } from "node:events";
import { createServer } from "node:http";

export async function fakeModel(...calls) {
  let turn = 0;
  const server = createServer(async (request, response) => {
    const { messages } = JSON.parse(await textOf(request));
    const call = calls[turn++];
    const answerText = `The tool said: ${lastTextIn(messages).trim()}`;
    const answer = request.url.endsWith("/messages")
      ? anthropicMessage(call, answerText)
      : chatCompletion(call, answerText);
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

async function textOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The text of the last message, from any nesting of content blocks. */
function lastTextIn(messages) {
  let value = messages.at(-1).content;
  while (typeof value !== "string")
    value = Array.isArray(value) ? value.at(-1) : (value.content ?? value.text);
  return value;
}

function chatCompletion(call, text) {
  const toolCalls = call && [
    {
      id: "call_1",
      type: "function",
      function: { name: call.name, arguments: JSON.stringify(call.input) },
    },
  ];
  return {
    id: "chat_1",
    object: "chat.completion",
    created: 0,
    model: "fake",
    choices: [
      {
        index: 0,
        finish_reason: call ? "tool_calls" : "stop",
        message: { role: "assistant", content: call ? null : text, ...(call && { tool_calls: toolCalls }) },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

function anthropicMessage(call, text) {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "fake",
    content: [call ? { type: "tool_use", id: "call_1", ...call } : { type: "text", text }],
    stop_reason: call ? "tool_use" : "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  };
}
