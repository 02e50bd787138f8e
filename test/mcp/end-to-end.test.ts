// The built program through real clients: both transports, both eras, both dialects.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually } from "../fixtures/shells.ts";
import { type Connection, dataOf, ERAS, type OpenOptions, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

const TRANSPORTS = {
  stdio: mcp.overStdio,
  http: mcp.overHttp,
} as const;

const WAYS = (["stdio", "http"] as const).flatMap((transport) =>
  ERAS.map((era) => ({ transport, era, open: TRANSPORTS[transport] })),
);

/** The policy wants a person to be asked about it; it empties the directory it runs in. */
const DOUBTFUL = "find . -delete";

function person(action: "accept" | "decline"): OpenOptions {
  const prepare = (client: Client) =>
    client.setRequestHandler("elicitation/create", () =>
      action === "accept" ? { action, content: {} } : { action },
    );
  return { capabilities: { elicitation: { form: {} } }, prepare };
}

async function startShell({ call }: Connection, command: string): Promise<string> {
  return String(dataOf(await call("Bash", { command, run_in_background: true }))["bash_id"]);
}

describe.each(WAYS)("over $transport in the $era era", ({ transport, era, open }) => {
  test("runs, starts, waits, reads, kills", async () => {
    const mark = new Mark();
    const connection = await open([], { era });
    const { call, client, dir } = connection;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      "Bash",
      "BashOutput",
      "KillShell",
    ]);
    expect(client.getInstructions()?.split("\n")).toHaveLength(5);
    expect(textOf(await call("Bash", { command: "pwd; (exit 3)" }))).toBe(
      `Command failed with exit code 3\n${dir}\n`,
    );
    const id = await startShell(connection, `echo ready; sleep ${mark.next()}`);
    expect(textOf(await call("BashOutput", { bash_id: id, wait_for: "ready" }))).toContain("ready");
    const { contents } = await client.readResource({ uri: `shell://${id}/output` });
    expect(contents).toMatchObject([{ text: "ready\n" }]);
    expect(textOf(await call("KillShell", { shell_id: id }))).toBe(`Shell ${id} terminated`);
    expect(mark.processes()).toEqual([]);
  });

  test("hears progress, cancels, and goes on", async () => {
    const mark = new Mark();
    const { client, call, dir } = await open([], { era });
    const heard: unknown[] = [];
    const command = "echo begun; until [ -e go ]; do sleep 0.02; done";
    const first = client.callTool(
      { name: "Bash", arguments: { command } },
      { onprogress: ({ message }) => heard.push(message) },
    );
    await eventually(() => expect(heard).toContain("begun"), 20_000);
    writeFileSync(join(dir, "go"), "");
    expect((await first).isError).toBe(false);

    const cancelling = new AbortController();
    const endless = { name: "Bash", arguments: { command: `setsid sleep ${mark.next()} & wait` } };
    const second = client.callTool(endless, { signal: cancelling.signal });
    await eventually(() => expect(mark.processes().length).toBeGreaterThan(0));
    cancelling.abort("no longer needed");
    await expect(second).rejects.toThrow();
    await eventually(() => expect(mark.processes()).toEqual([]));
    expect(textOf(await call("Bash", { command: "echo on" }))).toBe("on\n");
  });

  test.each(["accept", "decline"] as const)("asks a person, who says %s", async (answer) => {
    const { call, dir } = await open([], { era, ...person(answer) });
    writeFileSync(join(dir, "file"), "");
    const result = await call("Bash", { command: DOUBTFUL });
    expect(existsSync(join(dir, "file"))).toBe(answer === "decline");
    if (answer === "decline") expect(dataOf(result)).toMatchObject({ error_code: "approval_refused" });
  });

  test("says what would allow a doubtful command where nobody can be asked", async () => {
    const { call } = await open([], { era });
    expect(textOf(await call("Bash", { command: DOUBTFUL }))).toMatch(/nacre mcp --policy (trusting|off)/);
  });

  test("hears of changes to a resource while it is subscribed", async () => {
    const connection = await open([], { era });
    const { client, dir } = connection;
    const id = await startShell(connection, "until [ -e go ]; do sleep 0.02; done; echo gone");
    const uri = `shell://${id}/output`;
    expect((await client.listResources()).resources).toMatchObject([{ uri }]);
    const heard: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      heard.push(params.uri);
    });
    if (era === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
    writeFileSync(join(dir, "go"), "");
    await eventually(() => expect(heard).toContain(uri), 20_000);
  });

  test("gets its own answer to each of 200 calls at once", async () => {
    const { call } = await open([], { era });
    const numbers = Array.from({ length: 200 }, (_, i) => i);
    const results = await Promise.all(
      numbers.map((i) => call("Bash", { command: `echo ${i}; (exit ${i})` })),
    );
    expect(results.map((result) => dataOf(result)["output"])).toEqual(numbers.map((i) => `${i}\n`));
    expect(results.map((result) => dataOf(result)["exit_code"])).toEqual(numbers);
  });

  test("runs, fails and starts in the background in the modes dialect", async () => {
    const { call, client } = await open(["--dialect", "modes"], { era });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["bash"]);
    expect(textOf(await call("bash", { command: "echo a; echo b >&2; exit 3" }))).toBe(
      "[command failed: exit code 3]\na\nb\n",
    );
    const background = dataOf(await call("bash", { command: "echo up; sleep 1000", mode: "background" }));
    const pid = Number(background["pid"]);
    const file = String(background["output_file"]);
    await eventually(() => expect(readFileSync(file, "utf8")).toContain("up"));
    process.kill(-pid, "SIGKILL");
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  test("a client that vanishes in the middle of a call does no harm", async () => {
    const mark = new Mark();
    const connection = await open([], { era });
    const { client, call } = connection;
    const running = call("Bash", { command: `sleep ${mark.next()}` });
    running.catch(() => {});
    await eventually(() => expect(mark.processes().length).toBeGreaterThan(0));
    await client.close();
    // The older era says that a broken connection over HTTP is no cancellation: its call goes on.
    if (transport === "http" && era === "legacy") expect(mark.processes()).not.toEqual([]);
    else await eventually(() => expect(mark.processes()).toEqual([]));
    if ("another" in connection && typeof connection.another === "function") {
      const next: Client = await connection.another({ era });
      expect((await next.listTools()).tools).toHaveLength(3);
    }
  });
});
