// nacre output --since and --timestamps. The host records when output arrives. After the host exits, the keeper does.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ShellManager } from "../../src/shell-manager.ts";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

/** Prints `one`, then prints `two` when the file `go` exists. */
const COMMAND = "echo one; until [ -e go ]; do sleep 0.05; done; echo two >&2; echo two";

const timesFile = (id: string) => join(dir(), "state/shells", id, "times");
const STAMP = "(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z)";

async function timeRecorded(id: string, size: number): Promise<void> {
  await eventually(() => {
    const text = existsSync(timesFile(id)) ? readFileSync(timesFile(id), "utf8") : "";
    expect(text).toMatch(new RegExp(`^out ${size} `, "m"));
  });
}

/** Lets the command print both lines, and returns a time between them. */
async function printBoth(id: string): Promise<string> {
  await timeRecorded(id, 4);
  const between = new Date(Date.now() + 1).toISOString();
  await eventually(() => expect(new Date().toISOString() > between).toBe(true));
  writeFileSync(join(dir(), "go"), "");
  await nacre("wait", id);
  return between;
}

async function expectTimes(id: string, between: string): Promise<void> {
  const { code, stdout, stderr } = await nacre("output", id, "--timestamps");
  expect(code).toBe(0);
  const [, first = "", second = ""] = new RegExp(`^${STAMP} one\n${STAMP} two\n$`).exec(stdout) ?? [];
  expect(stderr).toMatch(new RegExp(`^${STAMP} two\n`));
  expect(first < between).toBe(true);
  expect(second > between).toBe(true);
  const since = await nacre("output", id, "--since", between);
  expect(since.stdout).toBe("two\n[stderr]\ntwo\n");
}

test("a host records when output arrived", async () => {
  await using host = new ShellManager({ stateRoot: join(dir(), "state") });
  const shell = await host.createShell({ command: COMMAND, workingDir: dir() });
  const between = await printBoth(shell.id);
  await expectTimes(shell.id, between);
  expect((await nacre("output", shell.id, "--since", "1h")).stdout).toBe("one\ntwo\n[stderr]\ntwo\n");
  expect((await nacre("output", shell.id, "--since", "1h", "--tail", "1", "--all")).stdout).toBe("two\n");
  const filtered = await nacre("output", shell.id, "-t", "--filter", "w");
  expect(filtered.stdout).toMatch(new RegExp(`^${STAMP} two\n$`));
  const later = new Date(Date.now() + 3_600_000).toISOString();
  expect((await nacre("output", shell.id, "--since", later, "--all")).stdout).toBe("");
});

test("after the host has exited, the keeper records when output arrived", async () => {
  const id = (await nacre("run", "-b", COMMAND)).stdout.trim();
  await expectTimes(id, await printBoth(id));
});

test("a reader with --follow sees the time at which a line arrives", async () => {
  await using host = new ShellManager({ stateRoot: join(dir(), "state") });
  const shell = await host.createShell({ command: COMMAND, workingDir: dir() });
  await timeRecorded(shell.id, 4);
  const following = nacre("output", shell.id, "--follow", "-t");
  const between = await printBoth(shell.id);
  const { stdout } = await following;
  const [, first = "", second = ""] = new RegExp(`^${STAMP} one\n${STAMP} two\n$`).exec(stdout) ?? [];
  expect(first < between && between < second).toBe(true);
});

test("a message counts the lines without a recorded time", async () => {
  await using host = new ShellManager({ stateRoot: join(dir(), "state") });
  const shell = await host.createShell({ command: COMMAND, workingDir: dir() });
  await printBoth(shell.id);
  const meta = join(dir(), "state/shells", shell.id, "meta");
  const old = JSON.parse(readFileSync(meta, "utf8"));
  writeFileSync(meta, JSON.stringify({ ...old, createdAt: old.createdAt - 60_000 }));
  rmSync(timesFile(shell.id));
  const { stderr } = await nacre("output", shell.id, "-t");
  expect(stderr).toContain(
    "nacre: 3 lines may be older than shown: nothing recorded the time when the shell printed them\n",
  );
});

test.each([
  [["--since", "yesterday"], "It must be how long ago, such as 30s, 10m or 2h, or a time such as 2026"],
  [["--since", "90"], "It must be how long ago"],
  [["--since", "2026-13-45"], "It must be how long ago"],
  [["--timestamps", "--json"], "cannot be used with option '--json'"],
])("nacre output %j is a usage error", async (args, message) => {
  const { code, stderr } = await nacre("output", "any", ...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
