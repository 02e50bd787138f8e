// Bad input over both transports and in both eras: an error each, and the server lives.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { ERAS, type Era, type McpTests, useMcp } from "./mcp-clients.ts";
import { bash, ENVELOPE, HELLO, post, rawServer } from "./raw.ts";

const TOO_MUCH = 17 * 1024 ** 2;

/** What is said, and the code of the error that is the answer. */
const BAD: readonly (readonly [string, unknown, number])[] = [
  ["text that is no JSON", "this is not JSON", -32_700],
  ["half a message", '{"jsonrpc":"2.0","id":1,"meth', -32_700],
  ["JSON that is no object", '"text"', -32_600],
  ["null", "null", -32_600],
  ["an empty batch", "[]", -32_600],
  ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "tools/list" }, -32_600],
  ["an id that is null", { jsonrpc: "2.0", id: null, method: "tools/list" }, -32_600],
  ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "tools/list" }, -32_600],
  ["an id that is no integer", { jsonrpc: "2.0", id: 1.5, method: "tools/list" }, -32_600],
  ["_meta that is no object", { ...bash(1, "true"), params: { name: "Bash", _meta: [] } }, -32_600],
  ["an unknown method", { jsonrpc: "2.0", id: 1, method: "no/such", params: {} }, -32_601],
  ["an unknown tool", { ...bash(1, "true"), params: { name: "Dance", arguments: {} } }, -32_602],
  ["a tool whose name is a number", { ...bash(1, "true"), params: { name: 5, arguments: {} } }, -32_602],
  ["arguments that are a text", { ...bash(1, "true"), params: { name: "Bash", arguments: "ls" } }, -32_602],
  ["a call of nothing", { jsonrpc: "2.0", id: 1, method: "tools/call" }, -32_602],
];

const WAYS = (["stdio", "http"] as const).flatMap((transport) =>
  ERAS.map((era) => [`over ${transport} in the ${era} era`, { transport, era }] as const),
);

describe.each(WAYS)("%s", (_, { transport, era }) => {
  const mcp = useMcp(afterAll);
  let ask: (said: unknown) => Promise<Record<string, unknown>>;

  beforeAll(async () => {
    ask = await ASK[transport](mcp, era);
  });

  // What is too large does not depend on the era.
  const size = era === "modern" ? 50_000_000 : TOO_MUCH;
  const large = `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(size)}"}`;
  test.each([...BAD, ["a message that is too large", large, -32_600] as const])(
    "%s",
    async (_name, said, code) => {
      expect(await ask(said)).toMatchObject({ error: { code, message: expect.stringMatching(/\w/) } });
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
  ])("a message that is too large is answered under its id, which comes %s", async (_place, said) => {
    expect(await ask(said)).toMatchObject({ id: "mine", error: { code: -32_600 } });
  });

  test.each([
    ["a command that is a number", { command: 7 }, "Parameter command must be a string, got 7"],
    ["a command that is missing", {}, "Missing required parameter: command"],
    ["a timeout that is a text", { command: "true", timeout: "long" }, "Parameter timeout must be"],
  ])("%s is reported with nacre's message", async (_name, args, words) => {
    const said = { ...bash(8, ""), params: { name: "Bash", arguments: args } };
    expect(await ask(said)).toMatchObject({
      id: 8,
      result: { isError: true, content: [{ text: expect.stringContaining(words) }] },
    });
  });
});

test("over stdio, a message that breaks off with its client is answered, and the server ends as it should", async () => {
  const { child, exited, stdout, sayText } = rawServer(mcp);
  sayText(JSON.stringify(bash(1, "echo never")).slice(0, -20));
  child.stdin?.end();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(JSON.parse(stdout())).toMatchObject({ id: null, error: { code: -32_700 } });
});

test("over HTTP, a message that breaks off with its client, or never ends, does no harm", async () => {
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
  // What is still open does not hold up the end either, which comes after the test.
  expect((await call("Bash", { command: "echo alive" })).structuredContent).toMatchObject({
    output: "alive\n",
  });
});

const mcp = useMcp();

type Ask = (mcp: McpTests, era: Era) => Promise<(said: unknown) => Promise<Record<string, unknown>>>;

const ASK: Readonly<Record<"stdio" | "http", Ask>> = {
  stdio: async (mcp, era) => {
    const { say, sayText, stdout } = rawServer(mcp);
    // The greeting settles the era: without one it is the newer.
    if (era === "legacy") say(...HELLO);
    const answers = () => stdout().split("\n").slice(0, -1);
    const next = async (count: number) => {
      await eventually(() => expect(answers().length).toBeGreaterThanOrEqual(count), 20_000);
      return JSON.parse(answers()[count - 1] ?? "");
    };
    let count = 0;
    if (era === "legacy") await next(++count);
    return async (said) => {
      sayText(`${textIn(era, said)}\n`);
      return await next(++count);
    };
  },
  http: async (mcp, era) => {
    const { url } = await mcp.overHttp([]);
    const [hello] = HELLO;
    const { headers } = await post(url, JSON.stringify(hello));
    const connection = { "mcp-session-id": String(headers["mcp-session-id"]) };
    return async (said) => {
      const { body } = await post(url, textIn(era, said), era === "legacy" ? connection : headersFor(said));
      return JSON.parse(/^data: (\{.*)$/m.exec(body)?.[1] ?? body);
    };
  },
};

function textIn(era: Era, said: unknown): string {
  if (typeof said === "string") return said;
  const params = Object(said).params;
  const own = era === "modern" && params ? { params: { _meta: ENVELOPE, ...params } } : {};
  return JSON.stringify({ ...Object(said), ...own });
}

/** The newer era repeats in its headers what is in the body. */
function headersFor(said: unknown): Record<string, string> {
  const { method, params } = Object(said);
  return {
    "mcp-protocol-version": "2026-07-28",
    ...(typeof method === "string" ? { "mcp-method": method } : {}),
    ...(typeof params?.name === "string" ? { "mcp-name": params.name } : {}),
  };
}
