// The end of a connection, with a server in this process.
import { expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { textOf, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

test("a client that disconnects during a call leaves no process running", async () => {
  const mark = new Mark();
  const { call, transport, served } = await mcp.inProcess();
  const foreground = call("Bash", { command: `setsid sleep ${mark.next()} & sleep ${mark.next()}` });
  await call("Bash", { command: `sleep ${mark.next()}`, run_in_background: true });
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(3));
  foreground.catch(() => {});
  transport.endInput();
  await served;
  expect(mark.processes()).toEqual([]);
});

test("a command that ignores TERM does not block the shutdown", async () => {
  const mark = new Mark();
  const { call, transport, served } = await mcp.inProcess();
  const command = `trap '' TERM; echo deaf; while :; do sleep ${mark.next()}; done`;
  const started = await call("Bash", { command, run_in_background: true });
  const [, id = ""] = /shell: (\S+)/.exec(textOf(started)) ?? [];
  await call("BashOutput", { bash_id: id, wait_for: "deaf" });
  transport.endInput();
  await served;
  expect(mark.processes()).toEqual([]);
});

test("an interrupted server ends its running commands and returns", async () => {
  const mark = new Mark();
  const { call, interrupt, served } = await mcp.inProcess();
  const running = call("Bash", { command: `sleep ${mark.next()}` });
  running.catch(() => {});
  await eventually(() => expect(mark.processes().length).toBeGreaterThan(0));
  interrupt();
  await served;
  expect(mark.processes()).toEqual([]);
});

test("calls that finish soon after the client has disconnected are answered", async () => {
  const { call, transport, served } = await mcp.inProcess({ era: "legacy" });
  await call("Bash", { command: "true" });
  const params = { name: "Bash", arguments: { command: "echo last words" } };
  transport.sendText(`${JSON.stringify({ jsonrpc: "2.0", id: 99, method: "tools/call", params })}\n`);
  transport.endInput();
  await served;
  await eventually(() =>
    expect(transport.received).toContainEqual(
      expect.objectContaining({ id: 99, result: expect.objectContaining({ isError: false }) }),
    ),
  );
});

test("a command of 1 MiB is run", async () => {
  const { call } = await mcp.inProcess();
  const text = "x".repeat(1024 * 1024);
  expect(textOf(await call("Bash", { command: `v='${text}'; echo \${#v}` }))).toBe(`${text.length}\n`);
});

test("the log is empty without a log level", async () => {
  const quiet = await mcp.inProcess();
  await quiet.call("Bash", { command: "true" });
  expect(quiet.stderr()).toBe("");
  const verbose = await mcp.inProcess({ logLevel: "debug" });
  await verbose.call("Bash", { command: "exit 3" });
  expect(verbose.stderr()).toContain("nacre mcp: a client of the modern era\n");
  expect(verbose.stderr()).toMatch(/nacre mcp: call \S+: exit_nonzero\n/);
});
