// The commands ps and output show the shells of another host: here, a separate ShellManager.
import { readFileSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ShellManagerOptions } from "../../src/shell/manager-options.ts";
import { ShellManager } from "../../src/shell-manager.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, nacreWith, dir } = useCli();

function otherHost(options: ShellManagerOptions = {}): ShellManager {
  return new ShellManager({ ...options, stateRoot: join(dir(), "state") });
}

test("without shells, ps prints a message on stderr, or an empty list with --json", async () => {
  expect(await nacre("ps")).toEqual({ code: 0, stdout: "", stderr: "There are no shells.\n" });
  expect(await nacre("ps", "--json")).toEqual({ code: 0, stdout: '{"shells":[]}\n', stderr: "" });
});

test("ps lists the shells of another host in every scope", async () => {
  const mark = new Mark();
  await using host = otherHost();
  const done = await host.createShell({
    command: "exit 3",
    workingDir: dir(),
    scope: "agent-1",
    session: "s",
  });
  await done.wait(20_000);
  const command = `sleep ${mark.next()}`;
  const running = await host.createShell({ command, workingDir: dir() });
  const { shells } = JSON.parse((await nacre("ps", "--json")).stdout);
  expect(shells).toEqual([
    {
      id: done.id,
      command: "exit 3",
      cwd: dir(),
      status: "failed",
      exit_code: 3,
      created_at: new Date(done.createdAt).toISOString(),
      duration_ms: expect.any(Number),
      scope: "agent-1",
      session: "s",
    },
    expect.objectContaining({ id: running.id, status: "running", exit_code: null, session: null }),
  ]);
  const { stdout } = await nacre("ps");
  expect(stdout).toMatch(/^ID +STATUS +AGE +DURATION +OUTPUT +SCOPE +CWD +COMMAND\n/);
  expect(stdout).toMatch(
    new RegExp(`^${done.id} +failed \\(3\\) +\\d+s +\\d+s +0B +agent-1 +${dir()} +exit 3$`, "m"),
  );
  expect(stdout).toMatch(
    new RegExp(`^${running.id} +running +\\d+s +\\d+s +0B +default +${dir()} +${command}$`, "m"),
  );
});

test("ps shows one line per shell, without control characters", async () => {
  await using host = otherHost();
  const shell = await host.createShell({
    command: `: \x1b[31m${"x".repeat(100)}\necho 2`,
    workingDir: dir(),
  });
  await shell.wait(20_000);
  const { stdout } = await nacre("ps");
  expect(stdout.split("\n")).toHaveLength(3);
  expect(stdout).not.toContain("\x1b");
  expect(stdout).toContain("…");
});

test("output prints the output of another host's shell and advances no cursor", async () => {
  await using host = otherHost();
  const command = "echo out; echo err >&2; printf end";
  const shell = await host.createShell({ command, workingDir: dir() });
  await shell.wait(20_000);
  const expected = {
    code: 0,
    stdout: "out\nend\n[stderr]\nerr\n",
    stderr: `nacre: ${shell.id} is completed\n`,
  };
  expect(await nacre("output", shell.id)).toEqual(expected);
  expect(await nacre("output", shell.id)).toEqual(expected);
  expect(shell.getNewOutput()).toContain("out");
});

test("output --all prints both streams byte for byte, and accepts an id prefix", async () => {
  await using host = otherHost();
  const shell = await host.createShell({ command: "printf 'a\\e[1mb'; printf err >&2", workingDir: dir() });
  await shell.wait(20_000);
  const prefix = shell.id.slice(0, "shell_".length + 4);
  expect(await nacre("output", prefix, "--all")).toEqual({ code: 0, stdout: "a\x1b[1mb", stderr: "err" });
});

test("output --json contains the status", async () => {
  const mark = new Mark();
  await using host = otherHost();
  const shell = await host.createShell({ command: `echo hi; sleep ${mark.next()}`, workingDir: dir() });
  await shell.waitFor({ pattern: /hi/ }, 20_000);
  const { stdout } = await nacre("output", shell.id, "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    output: "hi\n",
    bash_id: shell.id,
    status: "running",
    exit_code: null,
    is_running: true,
  });
});

test("output --follow prints until the shell ends", async () => {
  await using host = otherHost();
  const command = "echo one; until [ -e go ]; do sleep 0.02; done; echo two";
  const shell = await host.createShell({ command, workingDir: dir() });
  await shell.waitFor({ pattern: /one/ }, 20_000);
  const following = nacre("output", "-f", shell.id);
  await nacre("run", "touch go");
  expect(await following).toEqual({ code: 0, stdout: "one\ntwo\n", stderr: "" });
});

test("output --follow reports a kill or a timeout", async () => {
  await using host = otherHost();
  const shell = await host.createShell({ command: "echo one; sleep 300", workingDir: dir() });
  await shell.waitFor({ pattern: /one/ }, 20_000);
  const following = nacre("output", "-f", shell.id);
  await nacre("kill", shell.id);
  expect(await following).toEqual({
    code: 0,
    stdout: "one\n",
    stderr: `nacre: ${shell.id} killed by nacre kill\n`,
  });
});

test("output --all reports missing output", async () => {
  await using host = otherHost({ capBytes: 4096 });
  const shell = await host.createShell({ command: "yes", workingDir: dir() });
  await shell.wait(20_000);
  const { stdout, stderr } = await nacre("output", "--all", shell.id);
  expect(stdout).toHaveLength(4096);
  expect(stderr).toContain("nacre: output cap reached");
});

test("an unknown id causes an error with a hint", async () => {
  const { code, stdout, stderr } = await nacre("output", "shell_nope");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(
    "nacre: Shell not found: shell_nope. No shell is running; `nacre ps --all` lists ended shells.\n",
  );
  const mark = new Mark();
  await using host = otherHost();
  const shell = await host.createShell({ command: `sleep ${mark.next()}`, workingDir: dir() });
  expect((await nacre("wait", "shell_nope")).stderr).toBe(
    `nacre: Shell not found: shell_nope. Running: ${shell.id}. \`nacre ps\` lists them all.\n`,
  );
});

test("run -b prints an id, and the shell outlives the program", async () => {
  const mark = new Mark();
  const started = await nacre("run", "-b", `echo hi; sleep ${mark.next()}`);
  expect(started.code).toBe(0);
  const id = started.stdout.trim();
  await eventually(async () => expect((await nacre("output", id)).stdout).toBe("hi\n"));
  // bash prints the line before it starts sleep.
  await eventually(() => expect(mark.processes()).toHaveLength(1));
  expect((await nacre("kill", id)).code).toBe(0);
  expect(mark.processes()).toEqual([]);
});

test("run -b --json contains the id", async () => {
  const { stdout } = await nacre("run", "-b", "--json", "exit 4");
  const { bash_id: id, output } = JSON.parse(stdout);
  expect(output).toContain(`Started background shell: ${id}`);
  await eventually(async () => {
    const { shells } = JSON.parse((await nacre("ps", "--json")).stdout);
    expect(shells).toMatchObject([{ id, status: "failed", exit_code: 4 }]);
  });
});

test("ps hides shells that ended long ago, and ps --all shows them", async ({ skip }) => {
  skip(uptime() < 12 * 60, "the machine has run for less than twelve minutes");
  await using host = otherHost();
  const shell = await host.createShell({ command: "echo over", workingDir: dir() });
  await shell.wait(20_000);
  expect((await nacre("ps")).stdout).toContain(shell.id);
  // The record stores the end time of the shell, in seconds since boot.
  const { record } = shell.started.files;
  const longAgo = `0 - 5 0 ${(uptime() - 11 * 60).toFixed(2)}`;
  writeFileSync(record, `X ${longAgo.padEnd(124)}.\n${readFileSync(record, "latin1").slice(128)}`, "latin1");
  expect(await nacre("ps")).toEqual({
    code: 0,
    stdout: "",
    stderr: "No shell is running.\n1 more ended earlier: nacre ps --all\n",
  });
  expect(JSON.parse((await nacre("ps", "--json")).stdout)).toEqual({ shells: [] });
  expect((await nacre("ps", "--all")).stdout).toContain(shell.id);
});

test("ps fits its lines to the width of the terminal", async () => {
  await using host = otherHost();
  const command = `: ${"long ".repeat(40)}`;
  const shell = await host.createShell({ command, workingDir: dir() });
  await shell.wait(20_000);
  const { stdout } = await nacreWith({ stdin: "", columns: 80 }, "ps");
  for (const line of stdout.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(stdout).toMatch(/long.*…/);
  expect((await nacre("ps")).stdout).toContain(command.trim());
});

test("ps uses colors only if the terminal supports them", async () => {
  await using host = otherHost();
  await (await host.createShell({ command: "exit 3", workingDir: dir() })).wait(20_000);
  const coloured = await nacreWith({ stdin: "", colors: true }, "ps");
  expect(coloured.stdout).toContain("\x1b[31mfailed (3)");
  expect((await nacre("ps")).stdout).not.toContain("\x1b");
});

describe("output", () => {
  async function printed(host: ShellManager, command: string): Promise<string> {
    const shell = await host.createShell({ command, workingDir: dir() });
    await shell.wait(20_000);
    return shell.id;
  }

  test("--filter keeps the matching lines, including with --raw, --all and --follow", async () => {
    await using host = otherHost();
    const id = await printed(host, "printf 'one\\ntwo\\nthree'; echo 'two more' >&2");
    expect((await nacre("output", id, "--filter", "^t")).stdout).toBe("two\nthree\n[stderr]\ntwo more\n");
    for (const form of ["--raw", "--all", "--follow"]) {
      expect(await nacre("output", id, form, "--filter", "^t")).toEqual({
        code: 0,
        stdout: "two\nthree",
        stderr: "two more\n",
      });
    }
    const invalid = await nacre("output", id, "--filter", "(?=x)");
    expect(invalid).toMatchObject({ code: 2, stdout: "" });
    expect(invalid.stderr).toMatch(/^nacre: Invalid --filter regex: .*RE2 syntax/);
  });

  test("--tail shows the last lines of each stream; with --filter, it shows the last matching lines", async () => {
    await using host = otherHost();
    const id = await printed(host, "seq 30000; seq 5 >&2");
    const tail = async (...words: string[]) => (await nacre("output", id, ...words)).stdout;
    expect(await tail("--tail", "2")).toBe("29999\n30000\n[stderr]\n4\n5\n");
    expect(await tail("--tail", "0")).toBe("");
    expect(await tail("-n", "1", "--stderr")).toBe("5\n");
    expect(await tail("--tail", "2", "--filter", "^1+$")).toBe("1111\n11111\n[stderr]\n1\n");
    for (const form of ["--all", "--raw", "--follow"]) {
      expect(await tail("--tail", "2", "--filter", "^1+$", form)).toBe("1111\n11111\n");
      expect(await tail("--tail", "9", "--filter", "^1+$", form)).toBe("1\n11\n111\n1111\n11111\n");
      expect(await tail("--tail", "1", "--filter", "^.*$", form)).toBe("30000\n");
      expect(await tail("--tail", "0", "--filter", "^1+$", form)).toBe("");
    }
    expect(await tail("--tail", "20000", "--raw")).toBe(
      Array.from({ length: 20_000 }, (_, i) => `${i + 10_001}\n`).join(""),
    );
    expect(await tail("--tail", "99999", "--all")).toMatch(/^1\n2\n/);
  });

  test("--stderr prints only stderr, to stdout", async () => {
    await using host = otherHost();
    const id = await printed(host, "echo out; printf '\\e[31merr\\e[m\\n' >&2");
    expect((await nacre("output", id, "--stderr")).stdout).toBe("err\n");
    expect(await nacre("output", id, "--stderr", "--raw")).toEqual({
      code: 0,
      stdout: "\x1b[31merr\x1b[m\n",
      stderr: "",
    });
  });

  test("that is truncated gets a message that names the option for the whole output", async () => {
    await using host = otherHost();
    const id = await printed(host, "yes | head -c 100000");
    const { stdout, stderr } = await nacre("output", id);
    expect(stdout).toContain("[Output truncated at 30000 characters");
    expect(stderr).toBe(`nacre: ${id} is completed; --all prints the whole output\n`);
    expect((await nacre("output", id, "--all")).stdout).toHaveLength(100_000);
  });
});
