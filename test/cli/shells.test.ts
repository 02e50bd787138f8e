// ps, output and kill see the shells of other programs: here, of a manager that is none of the CLI's.
import { join } from "node:path";
import { expect, test } from "vitest";
import { ShellManager } from "../../src/shell/shell-manager.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

function otherHost(): ShellManager {
  return new ShellManager({ stateRoot: join(dir(), "state") });
}

test("without shells ps says so on stderr and prints an empty list as JSON", async () => {
  expect(await nacre("ps")).toEqual({ code: 0, stdout: "", stderr: "There are no shells.\n" });
  expect(await nacre("ps", "--json")).toEqual({ code: 0, stdout: '{"shells":[]}\n', stderr: "" });
});

test("ps lists the shells of another host, whatever their scope", async () => {
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
  expect(stdout).toMatch(/^ID +STATUS +EXIT +TIME +COMMAND *\n/);
  expect(stdout).toMatch(new RegExp(`^${done.id} +failed +3 +\\d+s +exit 3 *$`, "m"));
  expect(stdout).toMatch(new RegExp(`^${running.id} +running +- +\\d+s +${command} *$`, "m"));
});

test("ps shows one harmless line per shell", async () => {
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

test("output prints what a shell of another host has printed and moves no place", async () => {
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

test("output --all passes both streams on, byte by byte, by the beginning of an id", async () => {
  await using host = otherHost();
  const shell = await host.createShell({ command: "printf 'a\\e[1mb'; printf err >&2", workingDir: dir() });
  await shell.wait(20_000);
  const prefix = shell.id.slice(0, "shell_".length + 4);
  expect(await nacre("output", prefix, "--all")).toEqual({ code: 0, stdout: "a\x1b[1mb", stderr: "err" });
});

test("output --json carries the status", async () => {
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

test("output --follow goes on until the shell ends", async () => {
  await using host = otherHost();
  const command = "echo one; until [ -e go ]; do sleep 0.02; done; echo two";
  const shell = await host.createShell({ command, workingDir: dir() });
  await shell.waitFor({ pattern: /one/ }, 20_000);
  const following = nacre("output", "-f", shell.id);
  await nacre("run", "touch go");
  expect(await following).toEqual({ code: 0, stdout: "one\ntwo\n", stderr: "" });
});

test("kill ends a shell of another host with everything it started, and the host knows why", async () => {
  const mark = new Mark();
  await using host = otherHost();
  const command = `setsid sleep ${mark.next()} & sleep ${mark.next()}`;
  const shell = await host.createShell({ command, workingDir: dir() });
  await eventually(() => expect(mark.processes().length).toBeGreaterThanOrEqual(2));
  const { code, stdout } = await nacre("kill", shell.id);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `Shell ${shell.id} terminated\n` });
  expect(mark.processes()).toEqual([]);
  await shell.wait(20_000);
  expect(shell.outcome).toMatchObject({ kind: "killed", by: "nacre kill" });
  const again = await nacre("kill", shell.id);
  expect(again).toMatchObject({ code: 0, stdout: `Shell ${shell.id} already stopped (status: killed)\n` });
});

test("kill ends the others if one cannot be found, and tells it all as JSON", async () => {
  const mark = new Mark();
  await using host = otherHost();
  const shell = await host.createShell({ command: `sleep ${mark.next()}`, workingDir: dir() });
  const { code, stdout, stderr } = await nacre("kill", "nobody", shell.id, "--json");
  expect(code).toBe(1);
  expect(stderr).toContain("Shell not found: nobody");
  expect(JSON.parse(stdout)).toMatchObject({
    shells: [{ id: shell.id, status: "killed", already_stopped: false, survivors: [] }],
  });
  expect(mark.processes()).toEqual([]);
});

test("an unknown id is an error that says where to look", async () => {
  const { code, stdout, stderr } = await nacre("output", "shell_nope");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe("nacre: Shell not found: shell_nope. `nacre ps` lists those there are.\n");
});

test("run -b prints an id, and the shell goes on without the program", async () => {
  const mark = new Mark();
  const started = await nacre("run", "-b", `echo hi; sleep ${mark.next()}`);
  expect(started.code).toBe(0);
  const id = started.stdout.trim();
  await eventually(async () => expect((await nacre("output", id)).stdout).toBe("hi\n"));
  expect(mark.processes()).toHaveLength(1);
  expect((await nacre("kill", id)).code).toBe(0);
  expect(mark.processes()).toEqual([]);
});

test("run -b --json carries the id", async () => {
  const { stdout } = await nacre("run", "-b", "--json", "exit 4");
  const { bash_id: id, output } = JSON.parse(stdout);
  expect(output).toContain(`Started background shell: ${id}`);
  await eventually(async () => {
    const { shells } = JSON.parse((await nacre("ps", "--json")).stdout);
    expect(shells).toMatchObject([{ id, status: "failed", exit_code: 4 }]);
  });
});
