// Command lines that people type from habit: each one works, or its error shows the correct command line.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageVersion } from "../../src/cli/package-version.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();

test("all words after the first belong to the command", async () => {
  mkdirSync(join(dir(), "some dir"));
  const listed = await nacre("run", "ls", "-la", "some dir");
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(/^total .*\n.*\.\n/);
  expect((await nacre("run", "printf", "%s|", "--", "-b", "$HOME")).stdout).toBe("--|-b|$HOME|");
  expect((await nacre("check", "rm", "-rf", "/")).code).toBe(4);
});

test("a nacre option after a one-argument script causes an error that shows the correct order", async () => {
  expect(await nacre("run", "echo hi", "--timeout", "5s")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: "nacre: nacre's options go before the command: nacre run --timeout 5s 'echo hi'\n",
  });
  expect((await nacre("run", "ls", "--json")).stderr).toContain("nacre run --json ls.");
  // The word after --json is not an option of nacre, so all words belong to the command.
  expect((await nacre("run", "echo", "--json", "x")).stdout).toBe("--json x\n");
});

test("the error about late options suggests command lines that are valid", async () => {
  const { stderr } = await nacre("run", "--cwd", "/usr", "echo", "--json");
  expect(stderr).toContain("nacre run --cwd /usr --json echo. If they belong to the command");
  expect(stderr).toContain("nacre run --cwd /usr -- echo --json\n");
  expect(await nacre("run", "--cwd", "/usr", "--", "echo", "--json")).toMatchObject({
    code: 0,
    stdout: "--json\n",
  });
  expect((await nacre("check", "--", "ls", "--json")).code).toBe(0);
});

test("the error about late options repeats the options that preceded the command", async () => {
  expect((await nacre("run", "-b", "sleep 300", "--name", "c")).stderr).toBe(
    "nacre: nacre's options go before the command: nacre run -b --name c 'sleep 300'\n",
  );
  expect((await nacre("run", "--timeout", "5m", "-b", "sleep 300", "--cwd", "/tmp")).stderr).toContain(
    "nacre run --timeout 5m -b --cwd /tmp 'sleep 300'",
  );
});

test("without arguments, nacre prints a short help that names the tour", async () => {
  const { code, stdout, stderr } = await nacre();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("nacre tour");
  expect(stdout.split("\n").length).toBeLessThan(12);
});

test.each([["-v"], ["-V"], ["--version"]])("%s prints the bare version", async (flag) => {
  expect(await nacre(flag)).toMatchObject({ code: 0, stdout: `${packageVersion()}\n` });
});

test.each([
  ["list", "Did you mean ps?"],
  ["log", "Did you mean output?"],
  ["stop", "Did you mean kill?"],
  ["sesions", "Did you mean sessions?"],
  ["docter", "Did you mean doctor?"],
  ["echo hi", "Did you mean nacre run 'echo hi'?"],
])("nacre %s: %s", async (word, hint) => {
  const { code, stderr } = await nacre(word);
  expect(code).toBe(2);
  expect(stderr).toContain(hint);
});

test("a shell can have a name, ps lists running shells first, and wait takes several shells", async () => {
  expect((await nacre("run", "-b", "--name", "first", "exit 3")).code).toBe(0);
  expect((await nacre("wait", "first")).code).toBe(3);
  const started = await nacre("run", "-b", "--name", "dev", "echo up; sleep 300");
  const id = started.stdout.trim();
  expect(started.stderr).toContain("`nacre output dev`");
  expect((await nacre("run", "-b", "--name", "dev", "true")).stderr).toContain(
    `A shell named dev is running: ${id}. End it with \`nacre kill dev\``,
  );
  expect((await nacre("run", "--name", "x", "true")).stderr).toContain("--name needs -b");
  const { stdout: all } = await nacre("ls");
  expect(all).toMatch(/^ID +NAME +STATUS +AGE +DURATION .*\n.* dev +running .*\n.* first +failed \(3\) /);
  expect((await nacre("ps", "-q", "--filter", "status=running")).stdout).toBe(`${id}\n`);
  expect((await nacre("ps", "-q", "--filter", "command=exit", "--filter", "name=first")).stdout).toMatch(
    /^shell_\w+\n$/,
  );
  expect((await nacre("ps", "--filter", "colour=red")).code).toBe(2);
  const mistyped = await nacre("ps", "--filter", "status=runing");
  expect(mistyped.code).toBe(2);
  expect(mistyped.stderr).toContain("There is no status runing. Did you mean running?");
  expect((await nacre("ps", "--filter", "name=nothing")).stderr).toBe("No shell matches the filter.\n");
  expect((await nacre("wait", "dev", "--for", "up")).stdout).toBe("up\n");
  const both = await nacre("wait", "dev", "first", "--timeout", "100ms", "--json");
  expect(both.code).toBe(124);
  expect(JSON.parse(both.stdout)).toMatchObject([
    { bash_id: id, result: "expired" },
    { result: "ended", exit_code: 3 },
  ]);
  const killed = await nacre("kill", "dev");
  expect(killed.stderr).toContain("nacre: ended: bash -c 'echo up; sleep 300' (pid ");
  expect(killed.stderr).not.toContain("/cmd");
});

test("error messages of bash start with `bash:`, and nacre output reports how the shell ended", async () => {
  expect((await nacre("run", "nosuchcmd")).stderr).toBe("bash: line 1: nosuchcmd: command not found\n");
  const id = (await nacre("run", "-b", "nosuchcmd")).stdout.trim();
  await nacre("wait", id);
  const { stdout, stderr } = await nacre("logs", id);
  expect(stdout).toBe("[stderr]\nbash: line 1: nosuchcmd: command not found\n");
  expect(stderr).toBe(`nacre: ${id} failed with exit code 127\n`);
});

test("the JSON result has separate streams, and has session fields only with --session", async () => {
  const once = JSON.parse((await nacre("run", "--json", "echo a; echo b >&2; exit 4")).stdout);
  expect(once).toMatchObject({ stdout: "a\n", stderr: "b\n", output: "a\n[stderr]\nb\n", exit_code: 4 });
  expect(once).not.toHaveProperty("restarted");
  expect(JSON.stringify(once)).not.toContain("session");
  const named = JSON.parse((await nacre("run", "--session", "s", "--json", "echo a; echo b >&2")).stdout);
  expect(named).toMatchObject({ stdout: "a\n", stderr: "b\n", exit_code: 0 });
  const denied = JSON.parse((await nacre("run", "--json", "rm -rf /")).stdout);
  expect(denied).toMatchObject({
    error_code: "policy_denied",
    rule: "delete-root",
    span: { start: 7, end: 8 },
  });
});

test("named sessions can be listed and closed", async () => {
  expect((await nacre("sessions")).stderr).toBe("There are no named sessions.\n");
  await nacre("run", "--session", "build", "cd /usr; X=1");
  await nacre("run", "--session", "test", "true");
  expect((await nacre("sessions")).stdout).toMatch(
    /^NAME +STATUS +LAST USED +CWD\nbuild +idle +\d+s ago +\/usr\n/,
  );
  expect(JSON.parse((await nacre("sessions", "--json")).stdout)).toMatchObject({
    sessions: [{ name: "build", cwd: "/usr", in_use: false }, { name: "test" }],
  });
  expect(await nacre("sessions", "close", "build")).toMatchObject({
    code: 0,
    stdout: "Session build closed\n",
  });
  expect((await nacre("run", "--session", "build", "echo [$X]")).stdout).toBe("[]\n");
  expect(await nacre("sessions", "close", "tset")).toMatchObject({
    code: 1,
    stderr: "nacre: There is no session tset. Did you mean test?\n",
  });
  expect((await nacre("sessions", "list")).stdout).toMatch(/^NAME.*\n.*\ntest /);
  expect(await nacre("sessions", "close")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--all"),
  });
  expect(await nacre("sessions", "close", "--all", "x")).toMatchObject({ code: 2 });
  expect(await nacre("sessions", "close", "--all")).toMatchObject({
    code: 0,
    stdout: "Session build closed\nSession test closed\n",
  });
  expect((await nacre("sessions", "ls")).stderr).toBe("There are no named sessions.\n");
});
