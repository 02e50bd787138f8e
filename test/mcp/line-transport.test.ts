import { PassThrough, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { LineTransport, type LineTransportOptions } from "../../src/mcp/line-transport.ts";
import { eventually } from "../fixtures/shells.ts";

async function start(options?: LineTransportOptions) {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = new LineTransport(input, output, options);
  const messages: JSONRPCMessage[] = [];
  const errors: string[] = [];
  let closed = 0;
  transport.onmessage = (message) => messages.push(message);
  transport.onerror = ({ message }) => errors.push(message);
  transport.onclose = () => {
    closed += 1;
  };
  let written = "";
  output.on("data", (chunk: Buffer) => {
    written += chunk.toString();
  });
  await transport.start();
  const answers = () =>
    written
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { transport, input, output, messages, errors, answers, closings: () => closed };
}

const request = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" }) as const;
const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const TOO_LONG = 30_000;

test("messages pass in both directions, one per line", async () => {
  const { transport, input, messages, answers } = await start();
  input.write(`${line(request(1))}\n  \n${line(request(2))}`);
  await eventually(() => expect(messages).toEqual([request(1), request(2)]));
  await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
  await eventually(() => expect(answers()).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]));
  await transport.close();
});

test("a line that is not JSON gets an error, and the next line is read", async () => {
  const { transport, input, messages, answers, errors } = await start();
  input.write(`{"jsonrpc": \n${line(request(1))}`);
  await eventually(() => expect(messages).toEqual([request(1)]));
  expect(answers()).toEqual([
    { jsonrpc: "2.0", id: null, error: { code: -32700, message: expect.stringMatching(/^Not JSON: /) } },
  ]);
  expect(errors).toHaveLength(1);
  await transport.close();
});

test("JSON that is not JSON-RPC gets an error, with the id of the message if it has one", async () => {
  const { transport, input, answers } = await start();
  for (const value of [[], "text", { id: 7 }, { id: "x", method: 5 }, { id: {} }]) input.write(line(value));
  await eventually(() => expect(answers()).toHaveLength(5));
  expect(answers().map(({ id, error }) => [id, error.code])).toEqual([
    [null, -32600],
    [null, -32600],
    [7, -32600],
    ["x", -32600],
    [null, -32600],
  ]);
  await transport.close();
});

test("a message that is too large gets an error, and the connection stays open", async () => {
  const { transport, input, messages, answers } = await start({ messageMaxBytes: 1_000 });
  input.write(line({ ...request(1), params: { text: "x".repeat(5_000) } }));
  input.write(line(request(2)));
  await eventually(() => expect(messages).toEqual([request(2)]));
  expect(answers()).toEqual([
    { jsonrpc: "2.0", id: 1, error: { code: -32600, message: expect.stringContaining("too large") } },
  ]);
  await transport.close();
});

test("an answer that is too large makes its request fail, and is not mistaken for a request", async () => {
  const { transport, input, messages, answers } = await start({ messageMaxBytes: 1_000 });
  input.write(line({ jsonrpc: "2.0", id: 3, result: { method: "x", text: "x".repeat(5_000) } }));
  const error = { code: -32600, message: expect.stringContaining("too large") };
  await eventually(() => expect(messages).toEqual([{ jsonrpc: "2.0", id: 3, error }]));
  expect(answers()).toEqual([{ jsonrpc: "2.0", id: null, error }]);
  await transport.close();
});

test("a client that reads its answers slowly gets all of them after end-of-file", async () => {
  const input = new PassThrough();
  const taken: Buffer[] = [];
  // Accepts one chunk about every five milliseconds. All chunks together take much longer than the limit for one chunk.
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      taken.push(chunk);
      setTimeout(done, 5);
    },
  });
  const transport = new LineTransport(input, output);
  await transport.start();
  const text = "y".repeat(4_000_000);
  transport.send({ jsonrpc: "2.0", id: 1, result: { text } }).catch(() => {});
  input.end();
  await transport.closed;
  expect(await transport.flush()).toBe(true);
  expect(JSON.parse(Buffer.concat(taken).toString())).toMatchObject({ id: 1, result: { text } });
});

test("the transport does not wait for a client that reads nothing", async () => {
  const input = new PassThrough();
  const transport = new LineTransport(input, new Writable({ write: () => {} }));
  await transport.start();
  transport.send({ jsonrpc: "2.0", id: 1, result: {} }).catch(() => {});
  input.end();
  await transport.closed;
  expect(await transport.flush()).toBe(false);
});

test("end-of-file closes the transport at once if no call is open", async () => {
  const { transport, input, closings } = await start({ drainMaxMs: TOO_LONG });
  input.end();
  await transport.closed;
  expect(closings()).toBe(1);
  await expect(transport.send(request(1))).rejects.toThrow("closed");
});

test("a last line without its newline is a message", async () => {
  const { transport, input, messages } = await start({ drainMaxMs: TOO_LONG });
  input.end(JSON.stringify(request(1)));
  await eventually(() => expect(messages).toEqual([request(1)]));
  await transport.close();
});

test("an incomplete message before end-of-file gets an error", async () => {
  const { transport, input, messages, answers } = await start({ drainMaxMs: TOO_LONG });
  input.end('{"jsonrpc":"2.0","id":1,"meth');
  await transport.closed;
  await eventually(() => expect(answers()).toHaveLength(1));
  expect(messages).toEqual([]);
});

test("after end-of-file, open calls are answered before the transport closes", async () => {
  const { transport, input, messages, closings } = await start({ drainMaxMs: TOO_LONG });
  input.end(line(request(1)) + line(request(2)));
  await eventually(() => expect(messages).toHaveLength(2));
  await transport.send({ jsonrpc: "2.0", id: 1, result: {} });
  expect(closings()).toBe(0);
  await transport.send({ jsonrpc: "2.0", id: 2, error: { code: 1, message: "no" } });
  await transport.closed;
  expect(closings()).toBe(1);
});

test("the transport does not wait for a cancelled call", async () => {
  const { transport, input } = await start({ drainMaxMs: TOO_LONG });
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  input.end(line(request(1)) + line(cancelled));
  await transport.closed;
});

test("the transport stops waiting for calls that take too long, and closes without their answers", async () => {
  const { transport, input, messages } = await start({ drainMaxMs: 10 });
  input.end(line(request(1)));
  await transport.closed;
  expect(messages).toEqual([request(1)]);
});

test("a broken pipe on either side closes the transport", async () => {
  const first = await start();
  first.output.destroy(new Error("EPIPE"));
  await first.transport.closed;
  expect(first.errors).toEqual(["EPIPE"]);
  const second = await start();
  second.input.destroy(new Error("EIO"));
  await second.transport.closed;
  expect(second.errors).toEqual(["EIO"]);
});

test.each([
  { params: { _meta: null } },
  { params: { _meta: [] } },
  { params: { _meta: { progressToken: {} } } },
  { more: 1 },
])("a request with %j, which the SDK would drop silently, gets an error", async (part) => {
  const { transport, input, messages, answers } = await start();
  input.write(line({ ...request(1), ...part }) + line(request(2)));
  await eventually(() => expect(messages).toEqual([request(2)]));
  const message = expect.stringMatching(/^Not an MCP request: /);
  expect(answers()).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32600, message } }]);
  await transport.close();
});
