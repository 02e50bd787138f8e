import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { runCli } from "../../src/cli/cli.ts";
import { textOf } from "../mcp/mcp-clients.ts";
import { StreamTransport } from "../mcp/stream-transport.ts";
import { useCli } from "./run-nacre.ts";

const { dir } = useCli();

test("nacre mcp serves the tools on its streams and exits when the client disconnects", async () => {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const io = { stdin, stdout, stderr: new PassThrough(), cwd: dir(), interactive: false };
  const listeners = process.listenerCount("SIGTERM");
  const served = runCli(["mcp", "--policy", "off", "--scope", "team", "--on-timeout", "kill"], io);
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamTransport(stdout, stdin));
  expect(client.getServerVersion()).toMatchObject({ name: "nacre", version: "0.2.0" });
  const result = await client.callTool({ name: "Bash", arguments: { command: "pwd" } });
  expect(textOf(result)).toBe(`${dir()}\n`);
  await client.close();
  expect(await served).toBe(0);
  expect(process.listenerCount("SIGTERM")).toBe(listeners);
});
