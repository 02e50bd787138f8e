// The built program, `nacre mcp`, as a client starts it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { program, textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

interface RawServer {
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly code: unknown; readonly signal: unknown }>;
  readonly stdout: () => string;
  say(...messages: readonly unknown[]): void;
}

/** The program without a client, to do to it what no client does. */
function rawServer(): RawServer {
  const dir = mcp.directory();
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", NACRE_HOME: join(dir, "state") };
  const child = spawn(process.execPath, [program, "mcp"], { cwd: dir, env, stdio: "pipe" });
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const say: RawServer["say"] = (...messages) => {
    for (const message of messages) child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  return { child, exited, stdout: () => stdout, say };
}

const HELLO = [
  {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
];

const bash = (id: number, command: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "Bash", arguments: { command } },
});

test("end-of-file on stdin ends it with exit code 0 and nothing left behind", async () => {
  const mark = new Mark();
  const { child, exited, say } = rawServer();
  say(...HELLO, bash(1, `setsid sleep ${mark.next()} & sleep ${mark.next()}`));
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2), 20_000);
  child.stdin?.end();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(mark.processes()).toEqual([]);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends it with exit code 0 and nothing left behind",
  async (signal) => {
    const mark = new Mark();
    const { child, exited, say } = rawServer();
    say(...HELLO, bash(1, `sleep ${mark.next()}`));
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(1), 20_000);
    child.kill(signal);
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(mark.processes()).toEqual([]);
  },
);

test("a client that vanishes takes its commands with it", async () => {
  const mark = new Mark();
  const { child, exited, say } = rawServer();
  say(...HELLO, bash(1, `while :; do echo noise; sleep 0.01; done & sleep ${mark.next()}`));
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(1), 20_000);
  child.stdout?.destroy();
  child.stdin?.destroy();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(mark.processes()).toEqual([]);
});

test("a server that is killed leaves nothing running", async () => {
  const mark = new Mark();
  const { child, exited, say } = rawServer();
  say(...HELLO, bash(1, `setsid sleep ${mark.next()} & sleep ${mark.next()}`));
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2), 20_000);
  child.kill("SIGKILL");
  await exited;
  await eventually(() => expect(mark.processes()).toEqual([]), 20_000);
});

test("a script gets the answers to its calls, and nothing else, on stdout", async () => {
  const { child, exited, say, stdout } = rawServer();
  say(...HELLO, bash(1, "echo hi"), bash(2, "exit 3"));
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

test("a message that breaks off is answered with an error, and the server ends as it should", async () => {
  const { child, exited, stdout } = rawServer();
  child.stdin?.write(JSON.stringify(bash(1, "echo never")).slice(0, -20));
  child.stdin?.end();
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(JSON.parse(stdout())).toMatchObject({ id: null, error: { code: -32700 } });
});

test("a policy file that cannot be used is told on stderr and in every result, and the server lives", async () => {
  const { call, client, stderr } = await mcp.overStdio(["--policy-file", "/nonexistent/policy.json"]);
  expect((await client.listTools()).tools).toHaveLength(3);
  for (const command of ["echo one", "echo two"]) {
    const result = await call("Bash", { command });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("/nonexistent/policy.json cannot be used");
  }
  await eventually(() => expect(stderr()).toContain("/nonexistent/policy.json cannot be used"));
});
