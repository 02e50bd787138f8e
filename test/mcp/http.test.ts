// Behavior specific to HTTP: admitted and refused requests, streams, scopes and options.
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

test("unusual forms of the host and the target are refused over a real connection", async () => {
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
  // The guard admits the request; the server then refuses its empty body.
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

test("each HTTP error gets its status, and the server keeps running", async () => {
  const { url, call } = await mcp.overHttp([]);
  expect((await post(url, LIST)).status).toBe(400);
  expect((await post(url, LIST, { "mcp-session-id": "made-up" })).status).toBe(404);
  expect((await post(url, LIST, { "content-type": "text/plain" })).status).toBe(415);
  expect((await post(url, undefined)).status).toBe(400);
  expect(await post(url, undefined, {}, "TRACE")).toMatchObject({
    status: 405,
    headers: { allow: "GET, POST, DELETE" },
  });
  // Node answers 431 and closes the connection. A client that is still sending may get a reset instead of the status.
  await post(url, LIST, { "x-large": "x".repeat(100_000) }).then(
    ({ status }) => expect(status).toBe(431),
    (error) => expect(error).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) }),
  );
  // The SDK's responses ask to keep the connection open, but the client's header decides.
  expect(await post(url, HELLO_TEXT, { connection: "close" })).toMatchObject({
    status: 200,
    headers: { connection: "close" },
  });
  expect(textOf(await call("Bash", { command: "echo alive" }))).toBe("alive\n");
});

test("a stream begins at once, is the only stream of its connection, and can be reopened after a loss", async () => {
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

test.each(ERAS)("clients of the %s era share their shells only if they have the same token", async (era) => {
  const { call, another } = await mcp.overHttp([], { era });
  const started = await call("Bash", { command: "echo mine", run_in_background: true });
  const read = { name: "BashOutput", arguments: { bash_id: dataOf(started)["bash_id"], wait_for: "exit" } };
  const friend = await another({ era });
  expect(textOf(await friend.callTool(read))).toContain("mine");
  const stranger = await another({ era, token: TOKENS[1] });
  expect(textOf(await stranger.callTool(read))).toContain("Shell not found");
  expect((await stranger.listResources()).resources).toEqual([]);
});

test("connections of the legacy era each have their own bash, unless --session names a shared session", async () => {
  const own = await mcp.overHttp([], { era: "legacy" });
  const friend = await own.another({ era: "legacy" });
  await own.call("Bash", { command: "place=mine" });
  const readVariable = { name: "Bash", arguments: { command: "echo [$place]" } };
  expect(textOf(await friend.callTool(readVariable))).toBe("[]\n");
  expect(textOf(await own.client.callTool(readVariable))).toBe("[mine]\n");

  const shared = await mcp.overHttp(["--session", "ours"], { era: "legacy" });
  const other = await shared.another({ era: "legacy" });
  await shared.call("Bash", { command: "place=ours" });
  expect(textOf(await other.callTool(readVariable))).toBe("[ours]\n");
});

test.each(ERAS)(
  "a client of the %s era that cannot ask a person gets the flag that would allow the command",
  async (era) => {
    const { call } = await mcp.overHttp([], { era });
    expect(textOf(await call("Bash", { command: "find . -delete" }))).toMatch(
      /nacre mcp --policy (trusting|off)/,
    );
  },
);

test("a forged approval does not count for a call with another token", async () => {
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

test("--no-token accepts every request and prints a warning", async () => {
  const { url, stderr } = await mcp.overHttp(["--no-token"]);
  expect(stderr()).toContain("every user and program of this machine");
  expect((await post(url, HELLO_TEXT, { authorization: "" })).status).toBe(200);
});

test("a port that is in use causes an error with a remedy", async () => {
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
