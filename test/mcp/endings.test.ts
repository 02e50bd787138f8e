// The end of the built program: exit code 0 and no process left, even during many calls. SIGTERM always interrupts fifty
// calls; the other endings interrupt ten, or fifty with NACRE_LONG=1.
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { DIALECTS } from "./dialects.ts";
import { useMcp } from "./mcp-clients.ts";
import { bash, ENVELOPE, HELLO, type RawServer, rawServer } from "./raw.ts";

const mcp = useMcp();
const MANY = 50;
const callsFor = (ending: string) =>
  Array.from({ length: isLong || ending === "SIGTERM" ? MANY : 10 }, (_, i) => i);

const OVER_STDIO: readonly (readonly [string, (server: RawServer) => void])[] = [
  ["end-of-file on stdin", ({ child }) => child.stdin?.end()],
  ["SIGTERM", ({ child }) => child.kill("SIGTERM")],
  ["SIGINT", ({ child }) => child.kill("SIGINT")],
  [
    "a client that vanishes",
    ({ child }) => {
      child.stdout?.destroy();
      child.stdin?.destroy();
    },
  ],
];

describe.each(DIALECTS)("$dialect", ({ dialect, tools: [tool = ""] }) => {
  const words = ["--dialect", dialect];
  /**
   * In the shells dialect, every second command runs in the background, because foreground commands run one by one. The
   * modes dialect uses mode slow. Its background commands would outlive the server, and in its default mode the first
   * calls would time out before the last one starts.
   */
  const argumentsOf = (command: string, i: number) => {
    if (dialect === "modes") return { command, mode: "slow" };
    return i % 2 === 1 ? { command, run_in_background: true } : { command };
  };
  /** Returns the number of processes that must run at once. Each running command has two. */
  const atLeast = (calls: number) => (dialect === "shells" ? calls + 2 : Math.min(calls * 2, 32));

  test.each(OVER_STDIO)("over stdio, %s ends the server during many calls", async (name, end) => {
    const mark = new Mark();
    const server = rawServer(mcp, words);
    const commands = callsFor(name).map(() => `setsid sleep ${mark.next()} & sleep ${mark.next()}`);
    const calls = commands.map((command, i) => ({
      jsonrpc: "2.0",
      id: i + 1,
      method: "tools/call",
      params: { name: tool, arguments: argumentsOf(command, i) },
    }));
    server.send(...HELLO, ...calls);
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(atLeast(calls.length)));
    end(server);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(mark.processes()).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "over HTTP, %s ends the server during many calls",
    async (signal) => {
      const mark = new Mark();
      const { call, child } = await mcp.overHttp(words, { era: signal === "SIGINT" ? "legacy" : "modern" });
      const calls = callsFor(signal);
      for (const i of calls) {
        const command = `setsid sleep ${mark.next()} & sleep ${mark.next()}`;
        call(tool, argumentsOf(command, i)).catch(() => {});
      }
      await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(atLeast(calls.length)));
      const exited = once(child, "exit");
      child.kill(signal);
      expect(await exited).toEqual([0, null]);
      expect(mark.processes()).toEqual([]);
    },
  );
});

test("a server that is killed leaves nothing running", async () => {
  const mark = new Mark();
  const { child, exited, send } = rawServer(mcp);
  const command = `setsid sleep ${mark.next()} & sleep ${mark.next()}`;
  const params = { name: "Bash", arguments: { command } };
  send(...HELLO, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2));
  child.kill("SIGKILL");
  await exited;
  await eventually(() => expect(mark.processes()).toEqual([]));
});

describe("a client", () => {
  const MUCH = "seq 1 20000";
  const calls = (count: number) => Array.from({ length: count }, (_, i) => bash(i + 1, MUCH));
  /** The maximum time until the server exits. The client never reads, so a server that waited for it would hang. */
  const EXIT_MAX_MS = 60_000;

  /** Starts a server whose unread answers are larger than a pipe's buffer, and waits until all commands are done. */
  async function unread() {
    const dir = mcp.directory();
    const server = rawServer(mcp);
    server.child.stdout?.pause();
    server.send(...HELLO, ...calls(60), bash(99, `touch ${dir}/done`));
    await eventually(() => expect(existsSync(`${dir}/done`)).toBe(true));
    return server;
  }

  test.each(["end-of-file", "SIGTERM"])(
    "that never reads does not keep the server running after %s",
    async (ending) => {
      const { child, exited } = await unread();
      const began = performance.now();
      if (ending === "end-of-file") child.stdin?.end();
      else child.kill("SIGTERM");
      expect(await exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - began).toBeLessThan(EXIT_MAX_MS);
    },
  );

  test("that starts to read after it has closed its input gets every answer", async () => {
    const { child, exited, stdout } = await unread();
    child.stdin?.end();
    child.stdout?.resume();
    expect(await exited).toEqual({ code: 0, signal: null });
    await eventually(() => expect(idsIn(stdout())).toEqual([0, ...calls(60).map(({ id }) => id), 99]));
  });

  test("that reads slowly gets every answer, even if that exceeds the time limit for a stalled client", async () => {
    const { child, exited, stdout } = await unread();
    const paced = setInterval(() => {
      child.stdout?.resume();
      setImmediate(() => child.stdout?.pause());
    }, 40);
    child.stdin?.end();
    expect(await exited).toEqual({ code: 0, signal: null });
    clearInterval(paced);
    child.stdout?.resume();
    await eventually(() => expect(idsIn(stdout())).toHaveLength(62));
  });

  test("that never reads leaves only its durable shells running", async () => {
    const mark = new Mark();
    const dir = mcp.directory();
    const server = rawServer(mcp, ["--durable"]);
    server.child.stdout?.pause();
    const background = { command: `sleep ${mark.next()}`, run_in_background: true };
    const call = { ...bash(1, ""), params: { name: "Bash", arguments: background } };
    server.send(...HELLO, call, ...calls(60), bash(99, `touch ${dir}/done; sleep ${mark.next()}`));
    await eventually(() => expect(existsSync(`${dir}/done`)).toBe(true));
    server.child.stdin?.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(mark.processes()).toHaveLength(1);
    for (const { pid } of mark.processes()) process.kill(pid, "SIGKILL");
  });

  test("that never reads over HTTP does not keep the server running after SIGTERM", async () => {
    const { url, token, child } = await mcp.overHttp([]);
    const { host, port } = new URL(url);
    const dir = mcp.directory();
    for (let i = 0; i < 20; i++) {
      const command = `${MUCH}; touch ${dir}/${i}`;
      const params = { _meta: ENVELOPE, name: "Bash", arguments: { command, run_in_background: false } };
      const body = JSON.stringify({ ...bash(i + 1, ""), params });
      const socket = connect(Number(port), "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => {});
      socket.pause();
      socket.write(
        `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
          "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMCP-Method: tools/call\r\n" +
          `MCP-Name: Bash\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    }
    await eventually(() => expect(readdirSync(dir)).toHaveLength(20));
    const exited = once(child, "exit");
    const began = performance.now();
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(performance.now() - began).toBeLessThan(EXIT_MAX_MS);
  });
});

function idsIn(text: string): unknown[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).id)
    .sort((a, b) => a - b);
}
