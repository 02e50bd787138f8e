// Invalid input over both transports and in both eras: each message gets an error, and the server keeps running.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { ERAS, type Era, type McpTests, useMcp } from "./mcp-clients.ts";
import { bash, ENVELOPE, HELLO, post, rawServer } from "./raw.ts";

const TOO_MUCH = 17 * 1024 ** 2;

/** The title, the message, and the code of the error response. */
const INVALID_MESSAGES: readonly (readonly [string, unknown, number])[] = [
  ["text that is not JSON", "this is not JSON", -32_700],
  ["half a message", '{"jsonrpc":"2.0","id":1,"meth', -32_700],
  ["JSON that is not an object", '"text"', -32_600],
  ["null", "null", -32_600],
  ["an empty batch", "[]", -32_600],
  ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "tools/list" }, -32_600],
  ["an id that is null", { jsonrpc: "2.0", id: null, method: "tools/list" }, -32_600],
  ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "tools/list" }, -32_600],
  ["an id that is not an integer", { jsonrpc: "2.0", id: 1.5, method: "tools/list" }, -32_600],
  ["_meta that is not an object", { ...bash(1, "true"), params: { name: "Bash", _meta: [] } }, -32_600],
  ["an unknown method", { jsonrpc: "2.0", id: 1, method: "no/such", params: {} }, -32_601],
  ["an unknown tool", { ...bash(1, "true"), params: { name: "Dance", arguments: {} } }, -32_602],
  ["a tool name that is a number", { ...bash(1, "true"), params: { name: 5, arguments: {} } }, -32_602],
  ["arguments that are a string", { ...bash(1, "true"), params: { name: "Bash", arguments: "ls" } }, -32_602],
  ["a call without a tool name", { jsonrpc: "2.0", id: 1, method: "tools/call" }, -32_602],
];

const COMBINATIONS = (["stdio", "http"] as const).flatMap((transport) =>
  ERAS.map((era) => [`over ${transport} in the ${era} era`, { transport, era }] as const),
);

describe.each(COMBINATIONS)("%s", (_, { transport, era }) => {
  const mcp = useMcp(afterAll);
  let ask: (message: unknown) => Promise<Record<string, unknown>>;

  beforeAll(async () => {
    ask = await ASK[transport](mcp, era);
  });

  // The size limit does not depend on the era.
  const size = era === "modern" ? 50_000_000 : TOO_MUCH;
  const large = `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(size)}"}`;
  test.each([...INVALID_MESSAGES, ["a message that is too large", large, -32_600] as const])(
    "%s",
    async (_name, message, code) => {
      expect(await ask(message)).toMatchObject({ error: { code, message: expect.stringMatching(/\w/) } });
      expect(await ask(bash(7, "echo alive"))).toMatchObject({
        id: 7,
        result: { structuredContent: { output: "alive\n" } },
      });
    },
  );

  test.each([
    [
      "first",
      `{"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"id":9,"text":"${"x".repeat(TOO_MUCH)}"}}`,
    ],
    [
      "last",
      `{"params":{"id":9,"text":"${"x".repeat(TOO_MUCH)}"},"method":"tools/call","jsonrpc":"2.0","id":"mine"}`,
    ],
  ])(
    "the error response to a message that is too large repeats its id, if the id comes %s",
    async (_place, message) => {
      expect(await ask(message)).toMatchObject({ id: "mine", error: { code: -32_600 } });
    },
  );

  test.each([
    ["a command that is a number", { command: 7 }, "Parameter command must be a string, got 7"],
    ["a command that is missing", {}, "Missing required parameter: command"],
    ["a timeout that is a string", { command: "true", timeout: "long" }, "Parameter timeout must be"],
  ])("%s is reported with nacre's message", async (_name, args, words) => {
    const message = { ...bash(8, ""), params: { name: "Bash", arguments: args } };
    expect(await ask(message)).toMatchObject({
      id: 8,
      result: { isError: true, content: [{ text: expect.stringContaining(words) }] },
    });
  });
});

test("over stdio, an incomplete message before end-of-file gets an error, and the server exits with code 0", async () => {
  const { child, exited, stdout, sendText } = rawServer(mcp);
  sendText(JSON.stringify(bash(1, "echo never")).slice(0, -20));
  child.stdin?.end();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(JSON.parse(stdout())).toMatchObject({ id: null, error: { code: -32_700 } });
});

test("over HTTP, incomplete requests on closed or open connections do not stop the server", async () => {
  const { url, token, call } = await mcp.overHttp([]);
  const { host, port } = new URL(url);
  const head = `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n`;
  const begin = async (text: string) => {
    const socket = connect(Number(port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {});
    await once(socket, "connect");
    await new Promise((resolve) => socket.write(text, resolve));
    return socket;
  };
  for (let i = 0; i < 50; i++) {
    await begin(head.slice(0, 30 + i));
    await begin(`${head}\r\n{"jsonrpc"`);
    (await begin(`${head}\r\n{"jsonrpc"`)).destroy();
  }
  // After the test, a hook ends the server. Requests that are still open must not delay its exit.
  expect((await call("Bash", { command: "echo alive" })).structuredContent).toMatchObject({
    output: "alive\n",
  });
});

const mcp = useMcp();

type Ask = (mcp: McpTests, era: Era) => Promise<(message: unknown) => Promise<Record<string, unknown>>>;

const ASK: Readonly<Record<"stdio" | "http", Ask>> = {
  stdio: async (mcp, era) => {
    const { send, sendText, stdout } = rawServer(mcp);
    // The initialize message selects the legacy era. Without it the server uses the modern era.
    if (era === "legacy") send(...HELLO);
    const answers = () => stdout().split("\n").slice(0, -1);
    const next = async (count: number) => {
      await eventually(() => expect(answers().length).toBeGreaterThanOrEqual(count), 20_000);
      return JSON.parse(answers()[count - 1] ?? "");
    };
    let count = 0;
    if (era === "legacy") await next(++count);
    return async (message) => {
      sendText(`${textIn(era, message)}\n`);
      return await next(++count);
    };
  },
  http: async (mcp, era) => {
    const { url } = await mcp.overHttp([]);
    const [hello] = HELLO;
    const { headers } = await post(url, JSON.stringify(hello));
    const connection = { "mcp-session-id": String(headers["mcp-session-id"]) };
    return async (message) => {
      const { body } = await post(
        url,
        textIn(era, message),
        era === "legacy" ? connection : headersFor(message),
      );
      return JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? body);
    };
  },
};

function textIn(era: Era, message: unknown): string {
  if (typeof message === "string") return message;
  const params = Object(message).params;
  const own = era === "modern" && params ? { params: { _meta: ENVELOPE, ...params } } : {};
  return JSON.stringify({ ...Object(message), ...own });
}

/** In the modern era, the headers repeat parts of the body. */
function headersFor(message: unknown): Record<string, string> {
  const { method, params } = Object(message);
  return {
    "mcp-protocol-version": "2026-07-28",
    ...(typeof method === "string" ? { "mcp-method": method } : {}),
    ...(typeof params?.name === "string" ? { "mcp-name": params.name } : {}),
  };
}
