// A fake model: it calls the first tool whose name ends in "Bash" with one command, and answers "done" to the result. It
// implements the APIs of Anthropic, OpenAI (responses and chat) and Gemini, and stores the requests.
import { createServer } from "node:http";

export async function startFakeModel(command) {
  const seen = { tools: new Set(), results: [], requests: [] };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { pathname } = new URL(request.url, "http://localhost");
    seen.requests.push(`${request.method} ${pathname}`);
    const body = parse(text);
    const api = APIS.find(({ path }) => path.test(pathname));
    if (!api || !body) {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"not here"}}');
      return;
    }
    const names = api.tools(body);
    for (const name of names) seen.tools.add(name);
    const results = api.results(body);
    seen.results.push(...results);
    const tool = names.find((name) => /bash$/i.test(name) && /nacre/i.test(name));
    const events =
      tool !== undefined && results.length === 0
        ? api.call(tool, { command, description: "a test" }, body)
        : api.say("done", body);
    const asked = api.streams(body, pathname);
    response.writeHead(200, { "content-type": asked ? "text/event-stream" : "application/json" });
    response.end(asked ? events.map(frame).join("") + (api.end ?? "") : JSON.stringify(api.whole(events)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, seen, stop };
}

const frame = ({ event, data }) => `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
const textOf = (content) => (typeof content === "string" ? content : JSON.stringify(content));

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const anthropicEvents = (block, deltas, stopReason) => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "fake",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ];
  return events.map((data) => ({ event: data.type, data }));
};

const ANTHROPIC = {
  path: /\/v1\/messages$/,
  tools: ({ tools = [] }) => tools.map(({ name }) => name),
  results: ({ messages = [] }) =>
    messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => textOf(content)),
  streams: ({ stream }) => stream === true,
  call: (name, input) =>
    anthropicEvents(
      { type: "tool_use", id: "toolu_1", name, input: {} },
      [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
      "tool_use",
    ),
  say: (text) => anthropicEvents({ type: "text", text: "" }, [{ type: "text_delta", text }], "end_turn"),
  whole: ([{ data }]) => ({
    ...data.message,
    content: [{ type: "text", text: "done" }],
    stop_reason: "end_turn",
  }),
};

const responsesEvents = (item) => {
  const response = { id: "resp_1", object: "response", created_at: 0, model: "fake", output: [] };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ];
  return events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } }));
};

// The tools of an MCP server can be nested in a namespace.
const responsesTools = (tools) =>
  tools.flatMap((tool) =>
    tool.type === "namespace"
      ? tool.tools.map(({ name }) => `${tool.name}\0${name}`)
      : [tool.name ?? tool.type],
  );

const RESPONSES = {
  path: /\/responses$/,
  tools: ({ tools = [] }) => responsesTools(tools).map((name) => name.replace("\0", "/")),
  results: ({ input = [] }) =>
    input.filter(({ type }) => type === "function_call_output").map(({ output }) => textOf(output)),
  streams: () => true,
  call: (name, input) => {
    const [namespace, own] = name.includes("/") ? name.split("/") : [undefined, name];
    return responsesEvents({
      type: "function_call",
      id: "fc_1",
      call_id: "call_1",
      name: own,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: JSON.stringify(input),
      status: "completed",
    });
  },
  say: (text) =>
    responsesEvents({
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    }),
};

const chatEvents = (delta, reason) => {
  const chunk = { id: "chat_1", object: "chat.completion.chunk", created: 0, model: "fake" };
  return [
    {
      data: {
        ...chunk,
        choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }],
      },
    },
    {
      data: {
        ...chunk,
        choices: [{ index: 0, delta: {}, finish_reason: reason }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    },
  ];
};

const CHAT = {
  path: /\/chat\/completions$/,
  tools: ({ tools = [] }) => tools.map(({ function: { name } }) => name),
  results: ({ messages = [] }) =>
    messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content)),
  streams: ({ stream }) => stream === true,
  call: (name, input) =>
    chatEvents(
      {
        tool_calls: [
          {
            index: 0,
            id: "call_1",
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          },
        ],
      },
      "tool_calls",
    ),
  say: (content) => chatEvents({ content }, "stop"),
  whole: () => ({
    id: "chat_1",
    object: "chat.completion",
    created: 0,
    model: "fake",
    choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  end: "data: [DONE]\n\n",
};

const geminiEvents = (part) => [
  {
    data: {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: "fake",
    },
  },
];

const GEMINI = {
  path: /:(?:stream)?generateContent$/i,
  tools: ({ tools = [] }) =>
    tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
  results: ({ contents = [] }) =>
    contents
      .flatMap(({ parts = [] }) => parts)
      .filter(({ functionResponse }) => functionResponse)
      .map(({ functionResponse }) => textOf(functionResponse.response)),
  streams: (_, pathname) => pathname.includes("stream"),
  call: (name, args) => geminiEvents({ functionCall: { name, args } }),
  say: (text) => geminiEvents({ text }),
  whole: ([{ data }]) => data,
};

const APIS = [ANTHROPIC, RESPONSES, CHAT, GEMINI];
