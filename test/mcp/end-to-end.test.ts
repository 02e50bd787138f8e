// The built program through real clients: both dialects, both transports, both eras, and everything in each of the
// eight. Tests of one combination share a server, as the calls of one agent do. 200 concurrent calls in the newer era over
// stdio, with NACRE_LONG=1 in each of the eight.
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

/** The policy wants a person to be asked about it; it empties the directory it runs in. */
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
    const prepare = (asked: Client) =>
      asked.setRequestHandler("elicitation/create", ({ params }) => {
        questions.push(params.message);
        return answer === "accept" ? { action: answer, content: {} } : { action: answer };
      });
    const options = { era, prepare, capabilities: { elicitation: { form: {} } } };
    ({ server, another } = await OPEN[transport](mcp, ["--dialect", use.dialect], options));
    ({ client } = server);
  });

  test("run", async () => {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(use.tools);
    expect(client.getInstructions()?.split("\n")).toHaveLength(5);
    const result = await use.run(client, "pwd; (exit 3)");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe(use.failed(3, `${server.dir}\n`));
    expect(dataOf(result)).toMatchObject({ output: `${server.dir}\n`, exit_code: 3 });
  });

  test("background", async () => {
    const mark = new Mark();
    const started = await use.start(client, `sleep ${mark.next()}`);
    expect(started.id).toMatch(/^shell_[0-9a-f]{8}$/);
    await eventually(() => expect(mark.processes().length).toBeGreaterThan(0));
    expect((await use.run(client, "echo meanwhile")).isError).toBe(false);
    expect(mark.processes()).not.toEqual([]);
    await use.kill(client, started);
  });

  test("wait", async () => {
    const started = await use.start(client, `echo up on 80; ${UNTIL_GO}; rm go; echo done; (exit 5)`);
    expect(await use.wait(client, started, { line: "up on [0-9]" })).toContain("up on 80\n");
    const ended = use.wait(client, started, "end");
    writeFileSync(join(server.dir, "go"), "");
    const told = await ended;
    expect(told).toContain("done\n");
    expect(told).toMatch(/exit code:? 5\b/i);
  });

  test("kill", async () => {
    const mark = new Mark();
    const started = await use.start(client, `sleep ${mark.next()} & sleep ${mark.next()}`);
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2));
    expect((await use.kill(client, started)).isError).toBe(false);
    await eventually(() => expect(mark.processes()).toEqual([]));
    expect(await use.wait(client, started, "end")).toMatch(/killed|exit code 137/);
  });

  test("cancel", async () => {
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

  test("progress", async () => {
    const heard: unknown[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => heard.push(message);
    const running = use.run(client, `echo begun; ${UNTIL_GO}; rm go`, { onprogress });
    await eventually(() => expect(heard).toContain("begun"), SLOW_MS);
    writeFileSync(join(server.dir, "go"), "");
    expect((await running).isError).toBe(false);
  });

  test.each(["accept", "decline"] as const)("elicitation: %s", async (action) => {
    questions.length = 0;
    answer = action;
    const file = join(server.dir, "file");
    writeFileSync(file, "");
    const result = await use.run(client, DOUBTFUL);
    expect(questions).toEqual([expect.stringContaining(DOUBTFUL)]);
    expect(existsSync(file)).toBe(action === "decline");
    if (action === "decline") expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
    else expect(dataOf(result)).not.toHaveProperty("error_code", "approval_refused");
  });

  test("resources", async () => {
    const started = await use.start(client, `echo first; ${UNTIL_GO}; rm go; echo second`);
    const uri = `shell://${started.id}/output`;
    const read = async () => (await client.readResource({ uri })).contents;
    await eventually(async () => expect(await read()).toMatchObject([{ uri, text: "first\n" }]));
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(expect.objectContaining({ uri, name: started.id }));
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      heard.push(params.uri);
    });
    if (era === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    writeFileSync(join(server.dir, "go"), "");
    await eventually(() => expect(heard).toContain(uri), SLOW_MS);
    await eventually(async () =>
      expect(await read()).toMatchObject([{ text: expect.stringContaining("first\nsecond\n") }]),
    );
  });

  test("many concurrent calls, each with its own answer", async () => {
    const count = isLong || (transport === "stdio" && era === "modern") ? 200 : 20;
    const numbers = Array.from({ length: count }, (_, i) => i);
    const results = await Promise.all(numbers.map((i) => use.run(client, `echo ${i}; (exit ${i})`)));
    expect(results.map((result) => dataOf(result)["output"])).toEqual(numbers.map((i) => `${i}\n`));
    expect(results.map((result) => dataOf(result)["exit_code"])).toEqual(numbers);
  });

  test("client vanishing mid-call", async () => {
    const mark = new Mark();
    const doomed = await another();
    const running = use.run(doomed, `sleep ${mark.next()}`);
    running.catch(() => {});
    await eventually(() => expect(mark.processes().length).toBeGreaterThan(0), SLOW_MS);
    await doomed.close();
    // The older era says that a broken connection over HTTP is no cancellation: its call goes on.
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
  // Over stdio every client has a server of its own.
  stdio: async (mcp, words, options) => ({
    server: await mcp.overStdio(words, options),
    another: async () => (await mcp.overStdio(words, options)).client,
  }),
  http: async (mcp, words, options) => {
    const server = await mcp.overHttp(words, options);
    return { server, another: () => server.another(options) };
  },
};
