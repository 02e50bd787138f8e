// What is particular to HTTP: who is let in, what is refused, how it ends.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { dataOf, ERAS, program, TOKENS, textOf, useMcp } from "./mcp-clients.ts";
import { HELLO, post } from "./raw.ts";

const mcp = useMcp();

const HELLO_TEXT = JSON.stringify(HELLO[0]);
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });

test("a request without a token is refused with the reason", async () => {
  const { url } = await mcp.overHttp([]);
  expect(await post(url, LIST, { authorization: "" })).toMatchObject({
    status: 401,
    body: expect.stringContaining("Authorization: Bearer"),
    headers: { "www-authenticate": expect.stringContaining("Bearer") },
  });
  expect(await post(url, LIST, { host: "evil.example" })).toMatchObject({ status: 403 });
  expect(await post(url, LIST, { origin: "https://evil.example" })).toMatchObject({ status: 403 });
});

test("odd ways to name the host and the target are refused over the wire", async () => {
  const { url } = await mcp.overHttp([]);
  const { host, port } = new URL(url);
  const status = async (target: string, ...hosts: string[]) => {
    const socket = connect(Number(port), "127.0.0.1");
    const lines = [
      `POST ${target} HTTP/1.1`,
      ...hosts,
      `Authorization: Bearer ${TOKENS[0]}`,
      "Connection: close",
    ];
    socket.end(`${lines.join("\r\n")}\r\nContent-Length: 0\r\n\r\n`);
    return Number((await text(socket)).split(" ")[1]);
  };
  // Past the guard: what is wrong then is the empty message.
  expect(await status("/mcp", `Host: ${host}`)).not.toBe(403);
  expect(await status("/mcp", `Host: user@${host}`)).toBe(403);
  expect(await status("/mcp", `Host: ${host}`, "Host: evil.example")).toBe(403);
  expect(await status("/mcp", "Host: evil.example", `Host: ${host}`)).toBe(403);
  expect(
    await status("/mcp", `Host: ${host}`, "Origin: http://localhost", "Origin: http://evil.example"),
  ).toBe(403);
  expect(await status("/mcp")).toBe(400);
  expect(await status(`http://${host}/mcp`, `Host: ${host}`)).toBe(404);
  expect(await status("http://evil.example/mcp", `Host: ${host}`)).toBe(404);
  expect(await status("//evil.example/mcp", `Host: ${host}`)).toBe(404);
  expect(await status("/./mcp", `Host: ${host}`)).toBe(404);
});

test("what only HTTP can get wrong is answered with a status each, and the server lives", async () => {
  const { url, call } = await mcp.overHttp([]);
  expect((await post(url, LIST)).status).toBe(400);
  expect((await post(url, LIST, { "mcp-session-id": "made-up" })).status).toBe(404);
  expect((await post(url, LIST, { "content-type": "text/plain" })).status).toBe(415);
  expect((await post(url, undefined)).status).toBe(400);
  expect(await post(url, undefined, {}, "TRACE")).toMatchObject({
    status: 405,
    headers: { allow: "GET, POST, DELETE" },
  });
  // Node answers 431 and breaks off: whoever still speaks then may not get to read it.
  await post(url, LIST, { "x-large": "x".repeat(100_000) }).then(
    ({ status }) => expect(status).toBe(431),
    (error) => expect(error).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) }),
  );
  // Every text block of the SDK asks for it to stay open; the client's word counts.
  expect(await post(url, HELLO_TEXT, { connection: "close" })).toMatchObject({
    status: 200,
    headers: { connection: "close" },
  });
  expect(textOf(await call("Bash", { command: "echo alive" }))).toBe("alive\n");
});

test("a stream begins at once, is one per connection, and can be taken up again by a reader that was cut off", async () => {
  const { url } = await mcp.overHttp([]);
  const { headers } = await post(url, HELLO_TEXT);
  const listen = async () => {
    const sent = request(url, {
      headers: {
        accept: "text/event-stream",
        authorization: `Bearer ${TOKENS[0]}`,
        "mcp-session-id": String(headers["mcp-session-id"]),
      },
    });
    sent.on("error", () => {});
    onTestFinished(() => void sent.destroy());
    sent.end();
    const [response] = await once(sent, "response");
    response.on("error", () => {}).resume();
    return { status: response.statusCode, cutOff: () => sent.destroy() };
  };
  for (let round = 0; round < 3; round++) {
    const first = await eventually(async () => {
      const got = await listen();
      expect(got.status).toBe(200);
      return got;
    });
    expect((await listen()).status).toBe(409);
    first.cutOff();
  }
});

test.each(ERAS)("clients of the %s era share their shells by token, and only so", async (era) => {
  const { call, another } = await mcp.overHttp([], { era });
  const started = await call("Bash", { command: "echo mine", run_in_background: true });
  const read = { name: "BashOutput", arguments: { bash_id: dataOf(started)["bash_id"], wait_for: "exit" } };
  const friend = await another({ era });
  expect(textOf(await friend.callTool(read))).toContain("mine");
  const stranger = await another({ era, token: TOKENS[1] });
  expect(textOf(await stranger.callTool(read))).toContain("Shell not found");
  expect((await stranger.listResources()).resources).toEqual([]);
});

test("connections of the older era have a bash each, unless all are to share one", async () => {
  const own = await mcp.overHttp([], { era: "legacy" });
  const friend = await own.another({ era: "legacy" });
  await own.call("Bash", { command: "place=mine" });
  const look = { name: "Bash", arguments: { command: "echo [$place]" } };
  expect(textOf(await friend.callTool(look))).toBe("[]\n");
  expect(textOf(await own.client.callTool(look))).toBe("[mine]\n");

  const shared = await mcp.overHttp(["--session", "ours"], { era: "legacy" });
  const other = await shared.another({ era: "legacy" });
  await shared.call("Bash", { command: "place=ours" });
  expect(textOf(await other.callTool(look))).toBe("[ours]\n");
});

test.each(ERAS)(
  "a client of the %s era that cannot ask a person reads which flag would allow it",
  async (era) => {
    const { call } = await mcp.overHttp([], { era });
    expect(textOf(await call("Bash", { command: "find . -delete" }))).toMatch(
      /nacre mcp --policy (trusting|off)/,
    );
  },
);

test("an approval given by one token's person does not count for another's call", async () => {
  const { another } = await mcp.overHttp([]);
  const forged = {
    name: "Bash",
    arguments: { command: "find . -delete" },
    inputResponses: { approval: { action: "accept", content: {} } },
    requestState: "made up",
  };
  const client = await another({ token: TOKENS[1] });
  expect(dataOf(await client.callTool(forged))).toMatchObject({ error_code: "approval_pending" });
});

test("--no-token accepts every request and says so", async () => {
  const { url, stderr } = await mcp.overHttp(["--no-token"]);
  expect(stderr()).toContain("every user and program of this machine");
  expect((await post(url, HELLO_TEXT, { authorization: "" })).status).toBe(200);
});

test("a port that is in use is an error with a remedy", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const dir = mcp.directory();
  const child = spawn(process.execPath, [program, "mcp", "--http", String(port)], {
    cwd: dir,
    env: { PATH: process.env["PATH"] ?? "", NACRE_HOME: join(dir, "state") },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  expect(await once(child, "close")).toEqual([1, null]);
  expect(stderr).toContain(`Port ${port} is in use`);
});
