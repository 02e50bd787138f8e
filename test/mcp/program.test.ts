// The built program `nacre mcp`, started as a client starts it.
import { expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { textOf, useMcp } from "./mcp-clients.ts";
import { bash, HELLO, rawServer } from "./raw.ts";

const mcp = useMcp();

test("if a client disconnects while its command prints, the server ends the command and exits", async () => {
  const mark = new Mark();
  const { child, exited, send } = rawServer(mcp);
  send(...HELLO, bash(1, `while :; do echo noise; sleep 0.01; done & sleep ${mark.next()}`));
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(1), 20_000);
  child.stdout?.destroy();
  child.stdin?.destroy();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(mark.processes()).toEqual([]);
});

test("stdout contains only the answers to the client's calls", async () => {
  const { child, exited, send, stdout } = rawServer(mcp);
  send(...HELLO, bash(1, "echo hi"), bash(2, "exit 3"));
  await eventually(() => expect(stdout().split("\n")).toHaveLength(4), 20_000);
  child.stdin?.end();
  expect(await exited).toEqual({ code: 0, signal: null });
  const messages = stdout()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(messages.map(({ jsonrpc }) => jsonrpc)).toEqual(messages.map(() => "2.0"));
  const byId = new Map(messages.map(({ id, result }) => [id, result]));
  expect(byId.get(1)).toMatchObject({ isError: false, structuredContent: { output: "hi\n" } });
  expect(byId.get(2)).toMatchObject({ isError: true, structuredContent: { exit_code: 3 } });
});

test("an invalid policy file is reported on stderr and in every result, and the server keeps running", async () => {
  const { call, client, stderr } = await mcp.overStdio(["--policy-file", "/nonexistent/policy.json"]);
  expect((await client.listTools()).tools).toHaveLength(3);
  for (const command of ["echo one", "echo two"]) {
    const result = await call("Bash", { command });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("/nonexistent/policy.json cannot be used");
  }
  await eventually(() => expect(stderr()).toContain("/nonexistent/policy.json cannot be used"));
});
