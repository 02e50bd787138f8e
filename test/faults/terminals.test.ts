// A terminal has every guarantee of a shell: no process escapes from it, and a durable terminal outlives its host.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { findScript } from "../../src/terminal/launch.ts";
import { useDurables } from "../fixtures/durable.ts";
import { ESCAPES, escapeCommand, escaped } from "../fixtures/escapes.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();
const durables = useDurables(shells);

async function until(shell: ShellProcess, waiting: string): Promise<readonly string[]> {
  return await eventually(async () => {
    const seen = await shell.screen();
    expect(seen.waiting).toBe(waiting);
    return seen.screen.map((row) => row.trimEnd()).filter((row) => row !== "");
  }, 20_000);
}

test("processes that try every kind of escape at once end with the terminal's shell", async () => {
  const possible = ESCAPES.filter(({ impossible }) => impossible?.() === undefined);
  expect(possible.length).toBeGreaterThanOrEqual(14);
  const marks = new Mark();
  const starts = possible.map(({ kind }) => ({ kind, mark: marks.next() }));
  const lines = starts.map(({ kind, mark }) => escapeCommand(kind, mark, shells.directory()));
  const shell = await shells.manager().createShell({
    command: `${lines.join("; ")}; sleep ${marks.next()}`,
    workingDir: tmpdir(),
    terminal: true,
  });
  for (const { kind, mark } of starts) await escaped(kind, mark, marks);
  const report = await shell.kill({ graceMs: 200 });
  expect(marks.processes()).toEqual([]);
  expect(report.survivors).toEqual([]);
  expect(shell.status).toBe("killed");
});

describe("a durable terminal", () => {
  test("outlives its killed host, and the next host sees the same screen and can type", async () => {
    const root = durables.root();
    const host = await durables.host(root);
    const command = `printf '\\033[2J\\033[5;3Hhere\\n'; while read -rp 'more? ' x; do echo "got $x"; [[ $x != end ]] || exit 9; done`;
    const { id } = await host.start({ command, durable: true, terminal: true, rows: 12, cols: 50 });
    await host.ask("waitForLine", { id, line: "here" });
    const before = durables.manager(root).getShell(id);
    expect(await until(before as ShellProcess, "line")).toEqual(["  here", "more?"]);
    await before?.write("one\n");
    await before?.resize({ rows: 10, cols: 40 });
    await before?.waitFor("got one", 20_000);
    const seen = await until(before as ShellProcess, "line");
    await host.kill();

    const [shell] = await durables.manager(root).adopt();
    expect(shell?.id).toBe(id);
    expect(await until(shell as ShellProcess, "line")).toEqual(seen);
    expect(seen).toEqual(["  here", "more? one", "got one", "more?"]);
    expect((await shell?.screen())?.screen).toHaveLength(10);
    await shell?.write("end\n");
    expect(await shell?.wait(20_000)).toBe(9);
    expect((await shell?.screen())?.screen.join("\n")).toContain("got end");
  });

  test("gets no second answer from the next host to an old query", async () => {
    const root = durables.root();
    const host = await durables.host(root);
    const command = `printf 'up\\n\\033[6n'; IFS= read -rsd R answer; echo answered; read -rsn 1 key; echo "key $key"; exit 4`;
    const { id } = await host.start({ command, durable: true, terminal: true });
    await host.ask("waitForLine", { id, line: "answered" });
    await host.kill();
    const [shell] = await durables.manager(root).adopt();
    await until(shell as ShellProcess, "key");
    await shell?.press("Alt-x");
    expect(await shell?.wait(20_000)).toBe(4);
    // Alt-x and a second answer both begin with Escape. Only an answer contains R.
    expect(shell?.getAllOutput()).not.toContain("R");
  });
});

test("a deadline ends a terminal", async () => {
  const shell = await shells.manager({ killGraceMs: 100 }).createShell({
    command: "read -r x",
    workingDir: tmpdir(),
    terminal: true,
    timeoutMs: 500,
  });
  await shell.waitUntil({ exit: true }, 20_000);
  expect(shell.status).toBe("timeout");
});

test("if the program in a terminal reads no input, the error says how much was typed", async () => {
  const shell = await shells.manager({ killGraceMs: 100 }).createShell({
    command: "echo up; sleep 1000",
    workingDir: tmpdir(),
    terminal: true,
  });
  await shell.waitFor("up", 20_000);
  process.kill(shell.started.commandPid, "SIGSTOP");
  await shell.write("x".repeat(60_000));
  // The pipe has room for 64 KiB.
  await expect(shell.write("x".repeat(60_000))).rejects.toMatchObject({
    code: "limit_reached",
    message: expect.stringMatching(/does not read its input: \d+ of 60000 bytes/),
  });
}, 60_000);

test("if script(1) is missing, the error names its package", () => {
  const empty = shells.directory();
  expect(() => findScript(empty, [])).toThrow(/bsdutils/);
  expect(findScript("")).toBe(join("/usr/bin", "script"));
});
