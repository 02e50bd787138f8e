import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { program } from "../mcp/mcp-clients.ts";
import { useCli } from "./run-nacre.ts";
import { atTerminal, CTRL_C } from "./terminal.ts";

const { nacre, dir } = useCli();

function open(args: string, env: NodeJS.ProcessEnv = {}, columns = 70) {
  const line = `stty cols ${columns}; exec '${process.execPath}' '${program}' ${args}`;
  return atTerminal(line, {
    cwd: dir(),
    env: { PATH: process.env["PATH"], NACRE_HOME: join(dir(), "state"), ...env },
  });
}

test("Ctrl-C interrupts the command, and nacre exits with the command's code", async () => {
  const terminal = open(`run 'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.02; done'`);
  await terminal.shows("ready");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(9);
  expect(terminal.screen()).toContain("caught");
});

test("Ctrl-C interrupts the command of a session, and nacre exits with the command's code", async () => {
  const terminal = open(
    `run --session work 'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.02; done'`,
  );
  await terminal.shows("ready");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(9);
  expect(terminal.screen()).toContain("caught");
});

test("Ctrl-C ends a command without a trap, with exit code 130", async () => {
  const mark = new Mark();
  const terminal = open(`run 'echo ready; sleep ${mark.next()}'`);
  await terminal.shows("ready");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(130);
  expect(mark.processes()).toEqual([]);
});

test.each([
  ["in a separate shell", "run", "setsid "],
  ["in a session", "run --session work", ""],
])(
  "if a command ignores the first Ctrl-C, the second ends it with everything it started, %s",
  async (_, args, apart) => {
    const mark = new Mark();
    const terminal = open(
      `${args} 'trap "echo not yet" INT; trap "" TERM; ${apart}sleep ${mark.next()} & echo ready; while :; do sleep 0.02; done'`,
    );
    await terminal.shows("ready");
    terminal.type(CTRL_C);
    await terminal.shows("not yet");
    terminal.type(CTRL_C);
    expect(await terminal.exitCode).toBe(130);
    expect(mark.processes()).toEqual([]);
  },
);

test.each([
  ["in a separate shell", "run"],
  ["in a session", "run --session work"],
])("Ctrl-C ends background lists before their next command, %s", async (_, args) => {
  const mark = new Mark();
  const terminal = open(
    `${args} '(sleep ${mark.next()}; touch marker) & echo ready; sleep ${mark.next()}; touch marker'`,
  );
  await terminal.shows("ready");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(130);
  expect(mark.processes()).toEqual([]);
  expect(existsSync(join(dir(), "marker"))).toBe(false);
});

test("a durable command keeps running when its terminal closes", async () => {
  const mark = new Mark();
  const terminal = open(`run --durable 'echo ready; sleep ${mark.next()}'`);
  await terminal.shows("ready");
  const [shell] = JSON.parse((await nacre("ps", "--json")).stdout).shells;
  const host = mark.processes().find(({ command }) => command.startsWith(process.execPath));
  process.kill(host?.pid ?? Number.NaN, "SIGHUP");
  expect(await terminal.exitCode).toBe(129);
  expect(terminal.screen()).toContain(`nacre: ${shell.id} keeps running without this program`);
  expect(JSON.parse((await nacre("ps", "--json")).stdout).shells).toMatchObject([
    { id: shell.id, status: "running" },
  ]);
  expect((await nacre("kill", shell.id)).code).toBe(0);
});

test("a person is asked for approval, and the answer no refuses the command", async () => {
  const terminal = open("run 'git reset --hard'");
  await terminal.shows("Run it? [y/N]");
  terminal.type("n\n");
  expect(await terminal.exitCode).toBe(3);
  expect(terminal.screen()).toContain("A person refused the command");
});

test("output has colors only at a terminal without NO_COLOR, and lines fit the width", async () => {
  await nacre("run", `: ${"long ".repeat(40)}; exit 3`);
  const coloured = open("ps");
  expect(await coloured.exitCode).toBe(0);
  expect(coloured.screen()).toContain("\x1b[31mfailed (3)");
  const plain = open("ps", { NO_COLOR: "1" });
  expect(await plain.exitCode).toBe(0);
  expect(plain.screen()).toContain("failed (3)");
  expect(plain.screen()).not.toContain("\x1b");
  for (const line of plain.screen().split("\r\n")) expect(line.length).toBeLessThanOrEqual(70);
  const narrow = open("ps", { NO_COLOR: "1" }, 40);
  expect(await narrow.exitCode).toBe(0);
  for (const line of narrow.screen().split("\r\n")) expect(line.length).toBeLessThanOrEqual(40);
});

test("an MCP server that is started at a terminal prints that it waits for a client", async () => {
  const terminal = open("mcp");
  await terminal.shows("waiting for an MCP client on stdin");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(0);
});

test("ps --watch --quiet prints only ids", async () => {
  const terminal = open("ps --watch --quiet", {}, 120);
  await nacre("run", "echo something new");
  await terminal.shows("shell_");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen).not.toContain("COMMAND");
});

test("ps --watch shows changes until Ctrl-C", async () => {
  const terminal = open("ps --watch", {}, 120);
  await terminal.shows("COMMAND");
  await nacre("run", "echo something new");
  await terminal.shows("something new");
  terminal.type(CTRL_C);
  expect(await terminal.exitCode).toBe(0);
});
