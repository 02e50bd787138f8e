// The commands wait, kill and clean act on the shells of another host: here, a separate ShellManager.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ShellManagerOptions } from "../../src/shell/manager-options.ts";
import { ShellManager } from "../../src/shell-manager.ts";
import { Mark } from "../fixtures/marked.ts";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

function otherHost(options: ShellManagerOptions = {}): ShellManager {
  return new ShellManager({ ...options, stateRoot: join(dir(), "state") });
}

test("kill ends a shell of another host and everything the shell started; that host reports the cause", async () => {
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

test("if one id is unknown, kill still ends the other shells, and prints the result as JSON", async () => {
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

describe("wait", () => {
  test("exits with the exit code of the shell, or with 124 after the timeout", async () => {
    await using host = otherHost();
    const command = "until [ -e go ]; do sleep 0.02; done; exit 7";
    const shell = await host.createShell({ command, workingDir: dir() });
    const expired = await nacre("wait", shell.id, "--timeout", "30ms");
    expect(expired).toEqual({
      code: 124,
      stdout: "",
      stderr: `nacre: ${shell.id} is still running after 30ms\n`,
    });
    const waiting = nacre("wait", shell.id.slice("shell_".length), "--timeout", "20s");
    writeFileSync(join(dir(), "go"), "");
    expect(await waiting).toEqual({
      code: 7,
      stdout: "",
      stderr: `nacre: ${shell.id} exited with code 7\n`,
    });
    const { stdout } = await nacre("wait", shell.id, "--json");
    expect(JSON.parse(stdout)).toEqual({
      bash_id: shell.id,
      result: "ended",
      status: "failed",
      exit_code: 7,
      duration_ms: expect.any(Number),
    });
  });

  test("--for with an invalid pattern is a usage error that names the position", async () => {
    expect(await nacre("wait", "any", "--for", "on (port")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "nacre: Invalid --for regex: missing closing ): `on (port` (at character 4). Patterns use RE2 syntax.\n",
    });
  });

  test("--for prints the matching line, and fails if the shell ends without such a line", async () => {
    await using host = otherHost();
    const shell = await host.createShell({ command: "echo listening on 80", workingDir: dir() });
    expect(await nacre("wait", shell.id, "--for", "on [0-9]+")).toEqual({
      code: 0,
      stdout: "listening on 80\n",
      stderr: "",
    });
    expect(await nacre("wait", shell.id, "--for", "never")).toEqual({
      code: 1,
      stdout: "",
      stderr: `nacre: ${shell.id} exited with code 0 before a line matched\n`,
    });
  });
});

describe("kill", () => {
  test("--all ends every shell of every host", async () => {
    const mark = new Mark();
    await using one = otherHost();
    await using two = otherHost();
    const shells = [
      await one.createShell({ command: `sleep ${mark.next()}`, workingDir: dir() }),
      await two.createShell({ command: `sleep ${mark.next()}`, workingDir: dir(), scope: "other" }),
    ];
    const { code, stdout } = await nacre("kill", "--all");
    expect(code).toBe(0);
    expect(stdout.trim().split("\n").sort()).toEqual(shells.map(({ id }) => `Shell ${id} terminated`).sort());
    expect(mark.processes()).toEqual([]);
    expect(await nacre("kill", "--all")).toEqual({ code: 0, stdout: "", stderr: "No shell is running.\n" });
  });

  test("--signal only sends the signal to every process of the shell, without the steps of a kill", async () => {
    await using host = otherHost();
    const command = "trap 'echo got it; exit 5' USR1; echo ready; while :; do sleep 0.02; done";
    const shell = await host.createShell({ command, workingDir: dir() });
    await shell.waitFor({ pattern: /ready/ }, 20_000);
    const { code, stdout, stderr } = await nacre("kill", shell.id, "--signal", "usr1");
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Shell ${shell.id}: SIGUSR1 sent to \\d process(es)?\n$`));
    expect(stderr).toContain("nacre: signaled: bash ");
    expect(await shell.wait(20_000)).toBe(5);
    expect(shell.getAllOutput()).toContain("got it");
  });

  test("an ambiguous id prefix is refused with the matching ids", async () => {
    await using host = otherHost();
    const shells = [];
    for (let count = 0; count < 2; count++)
      shells.push(await host.createShell({ command: "true", workingDir: dir() }));
    const { code, stderr } = await nacre("kill", "shell_");
    expect(code).toBe(1);
    for (const { id } of shells) expect(stderr).toContain(id);
    expect(stderr).toContain("Write more characters of the id.");
    for (let count = 0; count < 5; count++)
      shells.push(await host.createShell({ command: "true", workingDir: dir() }));
    const many = (await nacre("kill", "shell_")).stderr;
    expect(many).toMatch(
      /shell ids: (shell_\w+, ){4}shell_\w+ and 2 more\. Write more characters of the id\.\n$/,
    );
  });
});

test("clean removes ended shells, and keeps running shells and shells with leftovers", async () => {
  const mark = new Mark();
  await using host = otherHost();
  const start = (command: string) => host.createShell({ command, workingDir: dir() });
  const done = await start("yes | head -c 2048");
  const leaving = await start(`sleep ${mark.next()} & :`);
  const running = await start(`sleep ${mark.next()}`);
  await done.wait(20_000);
  await leaving.wait(20_000);
  expect((await nacre("clean", "--older-than", "1h")).stdout).toBe("Removed 0 shells and 0B of output\n");
  expect(await nacre("clean")).toEqual({
    code: 0,
    stdout: "Removed 1 shell and 2KB of output\n",
    stderr: `nacre: ${leaving.id} has ended and left processes running; end them first: nacre kill ${leaving.id}\nnacre: 1 shell still running, see nacre ps\n`,
  });
  const { shells } = JSON.parse((await nacre("ps", "--json")).stdout);
  expect(shells.map(({ id }: { id: string }) => id).sort()).toEqual([leaving.id, running.id].sort());
  await nacre("kill", "--all");
  await nacre("kill", leaving.id);
  expect(JSON.parse((await nacre("clean", "--json")).stdout)).toMatchObject({ kept: [] });
  expect(await nacre("ps", "--all")).toMatchObject({ stdout: "", stderr: "There are no shells.\n" });
});
