// The built program with real clients. Every test runs in all eight combinations of dialect, transport and era. The
// tests of one combination share a server, like the calls of one agent. The modern era over stdio gets 200 concurrent
// calls. The other combinations get 20, or 200 with NACRE_LONG=1.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { DIALECTS } from "./dialects.ts";
import {
  type Connection,
  dataOf,
  ERAS,
  type McpTests,
  type OpenOptions,
  textOf,
  useMcp,
} from "./mcp-clients.ts";

const COMBINATIONS = DIALECTS.flatMap((use) =>
  (["stdio", "http"] as const).flatMap((transport) =>
    ERAS.map(
      (era) => [`${use.dialect} over ${transport} in the ${era} era`, { use, transport, era }] as const,
    ),
  ),
);

/** Needs approval because it empties its working directory. */
const DOUBTFUL = "find . -delete";
const UNTIL_GO = "until [ -e go ]; do sleep 0.02; done";
const SLOW_MS = 20_000;

describe.each(COMBINATIONS)("%s", (_, { use, transport, era }) => {
  const mcp = useMcp(afterAll);
  const questions: string[] = [];
  let answer: "accept" | "decline" = "decline";
  let server: Connection;
  let client: Client;
  let another: () => Promise<Client>;

  beforeAll(async () => {
    const prepare = (connecting: Client) =>
      connecting.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return answer === "accept" ? { action: answer, content: {} } : { action: answer };
      });
    const options = { era, prepare, capabilities: { elicitation: { form: {} } } };
    ({ server, another } = await OPEN[transport](mcp, ["--dialect", use.dialect], options));
    ({ client } = server);
  });

  test("a command runs, and its exit code and output are returned", async () => {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(use.tools);
    expect(client.getInstructions()?.split("\n")).toHaveLength(5);
    const result = await use.run(client, "pwd; (exit 3)");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe(use.failed(3, `${server.dir}\n`));
    expect(dataOf(result)).toMatchObject({ output: `${server.dir}\n`, exit_code: 3 });
  });

  test("a background command runs while other calls return", async () => {
    const mark = new Mark();
    const started = await use.start(client, `sleep ${mark.next()}`);
    expect(started.id).toMatch(/^shell_[0-9a-f]{8}$/);
    await eventually(() => expect(mark.processes().length).toBeGreaterThan(0));
    expect((await use.run(client, "echo meanwhile")).isError).toBe(false);
    expect(mark.processes()).not.toEqual([]);
    await use.kill(client, started);
  });

  test("a wait returns at a line and at the exit", async () => {
    const started = await use.start(client, `echo up on 80; ${UNTIL_GO}; rm go; echo done; (exit 5)`);
    expect(await use.wait(client, started, { line: "up on [0-9]" })).toContain("up on 80\n");
    const ended = use.wait(client, started, "end");
    writeFileSync(join(server.dir, "go"), "");
    const report = await ended;
    expect(report).toContain("done\n");
    expect(report).toMatch(/exit code:? 5\b/i);
  });

  test("a kill ends every process of a background command", async () => {
    const mark = new Mark();
    const started = await use.start(client, `sleep ${mark.next()} & sleep ${mark.next()}`);
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2));
    expect((await use.kill(client, started)).isError).toBe(false);
    await eventually(() => expect(mark.processes()).toEqual([]));
    expect(await use.wait(client, started, "end")).toMatch(/killed|exit code 137/);
  });

  test("cancelling a call ends the command with everything it started", async () => {
    const mark = new Mark();
    const cancelling = new AbortController();
    const command = `sleep ${mark.next()} & setsid sleep ${mark.next()} & wait`;
    const running = use.run(client, command, { signal: cancelling.signal });
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2), SLOW_MS);
    cancelling.abort("no longer needed");
    await expect(running).rejects.toThrow("no longer needed");
    await eventually(() => expect(mark.processes()).toEqual([]));
    expect(textOf(await use.run(client, "echo on"))).toBe("on\n");
  });

  test("a client that asks for progress messages gets them", async () => {
    const messages: unknown[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => messages.push(message);
    const running = use.run(client, `echo begun; ${UNTIL_GO}; rm go`, { onprogress });
    await eventually(() => expect(messages).toContain("begun"), SLOW_MS);
    writeFileSync(join(server.dir, "go"), "");
    expect((await running).isError).toBe(false);
  });

  test.each(["accept", "decline"] as const)(
    "a person can answer an approval question: %s",
    async (action) => {
      questions.length = 0;
      answer = action;
      const file = join(server.dir, "file");
      writeFileSync(file, "");
      const result = await use.run(client, DOUBTFUL);
      expect(questions).toEqual([expect.stringContaining(DOUBTFUL)]);
      expect(existsSync(file)).toBe(action === "decline");
      if (action === "decline") expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
      else expect(dataOf(result)).not.toHaveProperty("error_code", "approval_refused");
    },
  );

  test("the output of a shell is a resource with update notifications", async () => {
    const started = await use.start(client, `echo first; ${UNTIL_GO}; rm go; echo second`);
    const uri = `shell://${started.id}/output`;
    const read = async () => (await client.readResource({ uri })).contents;
    await eventually(async () => expect(await read()).toMatchObject([{ uri, text: "first\n" }]));
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(expect.objectContaining({ uri, name: started.id }));
    const updatedUris: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updatedUris.push(params.uri);
    });
    if (era === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    writeFileSync(join(server.dir, "go"), "");
    await eventually(() => expect(updatedUris).toContain(uri), SLOW_MS);
    await eventually(async () =>
      expect(await read()).toMatchObject([{ text: expect.stringContaining("first\nsecond\n") }]),
    );
  });

  test("many concurrent calls each get their own result", async () => {
    const count = isLong || (transport === "stdio" && era === "modern") ? 200 : 20;
    const numbers = Array.from({ length: count }, (_, i) => i);
    const results = await Promise.all(numbers.map((i) => use.run(client, `echo ${i}; (exit ${i})`)));
    expect(results.map((result) => dataOf(result)["output"])).toEqual(numbers.map((i) => `${i}\n`));
    expect(results.map((result) => dataOf(result)["exit_code"])).toEqual(numbers);
  });

  test("a client that disconnects during a call cancels it, except in the legacy era over HTTP", async () => {
    const mark = new Mark();
    const disconnecting = await another();
    const running = use.run(disconnecting, `sleep ${mark.next()}`);
    running.catch(() => {});
    await eventually(() => expect(mark.processes().length).toBeGreaterThan(0), SLOW_MS);
    await disconnecting.close();
    // In the legacy era, a broken HTTP connection does not cancel the call, so the call continues.
    if (transport === "http" && era === "legacy") expect(mark.processes()).not.toEqual([]);
    else await eventually(() => expect(mark.processes()).toEqual([]));
    expect(textOf(await use.run(client, "echo here"))).toBe("here\n");
    expect((await (await another()).listTools()).tools).toHaveLength(use.tools.length);
  });
});

type Open = (
  mcp: McpTests,
  words: readonly string[],
  options: OpenOptions,
) => Promise<{ readonly server: Connection; readonly another: () => Promise<Client> }>;

const OPEN: Readonly<Record<"stdio" | "http", Open>> = {
  // Over stdio every client has its own server.
  stdio: async (mcp, words, options) => ({
    server: await mcp.overStdio(words, options),
    another: async () => (await mcp.overStdio(words, options)).client,
  }),
  http: async (mcp, words, options) => {
    const server = await mcp.overHttp(words, options);
    return { server, another: () => server.another(options) };
  },
};
