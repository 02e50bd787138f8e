// How the built program ends: exit code 0 and nothing left, also in the middle of fifty calls.
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { DIALECTS } from "./dialects.ts";
import { useMcp } from "./mcp-clients.ts";
import { HELLO, type RawServer, rawServer } from "./raw.ts";

const mcp = useMcp();
const CALLS = Array.from({ length: 50 }, (_, i) => i);

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

describe.each(DIALECTS)("$dialect", ({ dialect, tools: [name] }) => {
  const words = ["--dialect", dialect];
  /**
   * In the dialect shells every other one in the background, for the rest wait for their turn in the session; what modes
   * has in the background is meant to outlive the server.
   */
  const argumentsOf = (command: string, i: number) =>
    dialect === "shells" && i % 2 === 1 ? { command, run_in_background: true } : { command };
  /** Two each: those in the background and one in the session, or as many as run at once. */
  const atLeast = dialect === "shells" ? 52 : 32;

  test.each(OVER_STDIO)("over stdio, %s ends it in the middle of fifty calls", async (_, end) => {
    const mark = new Mark();
    const server = rawServer(mcp, words);
    const commands = CALLS.map(() => `setsid sleep ${mark.next()} & sleep ${mark.next()}`);
    const calls = commands.map((command, i) => ({
      jsonrpc: "2.0",
      id: i + 1,
      method: "tools/call",
      params: { name, arguments: argumentsOf(command, i) },
    }));
    server.say(...HELLO, ...calls);
    await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(atLeast), 20_000);
    end(server);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(mark.processes()).toEqual([]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "over HTTP, %s ends it in the middle of fifty calls",
    async (signal) => {
      const mark = new Mark();
      const { call, child } = await mcp.overHttp(words, { era: signal === "SIGINT" ? "legacy" : "modern" });
      for (const i of CALLS) {
        const command = `setsid sleep ${mark.next()} & sleep ${mark.next()}`;
        call(name ?? "", argumentsOf(command, i)).catch(() => {});
      }
      await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(atLeast), 20_000);
      const exited = once(child, "exit");
      child.kill(signal);
      expect(await exited).toEqual([0, null]);
      expect(mark.processes()).toEqual([]);
    },
  );
});

test("a server that is killed leaves nothing running", async () => {
  const mark = new Mark();
  const { child, exited, say } = rawServer(mcp);
  const command = `setsid sleep ${mark.next()} & sleep ${mark.next()}`;
  const params = { name: "Bash", arguments: { command } };
  say(...HELLO, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2), 20_000);
  child.kill("SIGKILL");
  await exited;
  await eventually(() => expect(mark.processes()).toEqual([]), 20_000);
});
