import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { eventually } from "../fixtures/shells.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, nacreWith, dir } = useCli();

/** Needs approval because it empties its working directory. */
const DOUBTFUL = ["--cwd", "work", "find . -delete; true"];

test("output and exit code pass through", async () => {
  expect(await nacre("run", "echo hello; echo oops >&2; exit 3")).toEqual({
    code: 3,
    stdout: "hello\n",
    stderr: "oops\n",
  });
});

test("one argument is a line of bash; several arguments, or any after --, are a program and its arguments", async () => {
  const odd = ["a  b", "$HOME", "*", "it's", "", "x=y", "--json", "\n"];
  const printed = odd.map((word) => `<${word}>`).join("");
  expect((await nacre("run", "--", "printf", "<%s>", ...odd)).stdout).toBe(printed);
  expect((await nacre("run", "printf", "<%s>", "a  b", "$HOME")).stdout).toBe("<a  b><$HOME>");
  expect((await nacre("run", "A=1; echo $A")).stdout).toBe("1\n");
  expect(await nacre("run", "--", "A=1")).toMatchObject({ code: 127 });
  const line = await nacre("run", "--", "echo hello");
  expect(line.code).toBe(127);
  expect(line.stderr).toContain("nacre: -- must be followed by a program and its arguments");
});

test("a -- between the arguments of a command belongs to the command", async () => {
  expect((await nacre("run", "printf", "<%s>", "--", "-x")).stdout).toBe("<--><-x>");
  expect((await nacre("run", "--", "printf", "--", "<%s>", "--", "-x")).stdout).toBe("<--><-x>");
});

test.each([[], ["-b"], ["--session", "work"]])(
  "invalid bash gives bash's own error message and exit code: %j",
  async (...args) => {
    const { code, stdout, stderr } = await nacre("run", ...args, "touch here; echo 'open");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^bash: line 1: unexpected EOF .*\n(.*\n)*nacre: bash cannot read the command/);
    const json = await nacre("run", ...args, "--json", "touch here; echo 'open");
    expect(json.code).toBe(2);
    expect(JSON.parse(json.stdout)).toMatchObject({
      exit_code: 2,
      output: expect.stringContaining("unexpected EOF"),
      error_code: "exit_nonzero",
    });
    expect(existsSync(join(dir(), "here"))).toBe(false);
  },
);

test("a command runs in the caller's directory or in the directory of --cwd", async () => {
  expect(await nacre("run", "--", "pwd", "-P")).toMatchObject({ code: 0, stdout: `${dir()}\n` });
  expect(await nacre("run", "--cwd", "/", "pwd")).toMatchObject({ code: 0, stdout: "/\n" });
  expect(await nacre("run", "--cwd", ".", "pwd")).toMatchObject({ code: 0, stdout: `${dir()}\n` });
});

test("nacre names and ends the leftovers of the command", async () => {
  const { code, stdout, stderr } = await nacre("run", "sleep 1000 & echo $!");
  expect(code).toBe(0);
  expect(stderr).toBe(`nacre: ending a leftover process: sleep 1000 (pid ${stdout.trim()})\n`);
  expect(isAlive(Number(stdout))).toBe(false);
  const part = await nacre("run", "(while :; do sleep 0.1; done) & echo $!");
  expect(part.stderr).toContain(
    `nacre: ending a leftover process: bash (a subshell of the command) (pid ${part.stdout.trim()})\n`,
  );
});

test("the error about a missing directory names the directory", async () => {
  const { code, stderr } = await nacre("run", "--cwd", "/nowhere/at/all", "true");
  expect(code).toBe(1);
  expect(stderr).toBe("nacre: Working directory does not exist: /nowhere/at/all\n");
});

test("--env accepts the names of inherited JavaScript properties, such as toString", async () => {
  for (const how of [[], ["--session", "odd"]]) {
    const { stdout } = await nacre("run", ...how, "--env", "__proto__=1", "--env", "toString=2", ODD_NAMES);
    expect({ how, stdout }).toEqual({ how, stdout: "1 2\n" });
  }
});

const ODD_NAMES = 'echo "$__proto__ $toString"';

test("--env sets variables, and a value may contain an equals sign", async () => {
  const { stdout } = await nacre("run", "--env", "A=1", "--env", "B=x=y", 'echo "$A $B"');
  expect(stdout).toBe("1 x=y\n");
});

test("--timeout ends the command and gives exit code 124", async () => {
  const mark = new Mark();
  const command = `echo begun; sleep ${mark.next()}`;
  const plain = await nacre("run", "--timeout", "1000", command);
  expect(plain).toEqual({ code: 124, stdout: "begun\n", stderr: "nacre: Command timed out after 1000ms\n" });
  const json = await nacre("run", "--json", "--timeout", "1000", command);
  expect(json.code).toBe(124);
  expect(JSON.parse(json.stdout)).toMatchObject({
    error: "Command timed out after 1000ms",
    error_code: "timed_out",
    output: "begun\n",
  });
  expect(mark.processes()).toEqual([]);
});

test("--json prints the flat result, and the exit code is the command's", async () => {
  const { code, stdout, stderr } = await nacre(
    "run",
    "--json",
    "--env",
    "A=1",
    "echo $A; echo oops >&2; exit 3",
  );
  expect(code).toBe(3);
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({
    output: "1\n[stderr]\noops\n",
    exit_code: 3,
    error: "Command failed with exit code 3",
    error_code: "exit_nonzero",
    notes: expect.any(Array),
  });
  expect(await nacre("run", "--json", "true")).toMatchObject({ code: 0 });
});

test("every form of run refuses a denied command with exit code 4, and no shell or keeper is left", async () => {
  const plain = await nacre("run", "touch here; rm -rf /");
  expect(plain).toMatchObject({ code: 4, stdout: "" });
  expect(plain.stderr).toContain("blocked");
  const json = await nacre("run", "--json", "touch here; rm -rf /");
  expect(json.code).toBe(4);
  expect(JSON.parse(json.stdout)).toMatchObject({ error_code: "policy_denied" });
  expect((await nacre("run", "-b", "touch here; rm -rf /")).code).toBe(4);
  const both = await nacre("run", "-b", "--json", "touch here; rm -rf /");
  expect(both.code).toBe(4);
  expect(JSON.parse(both.stdout)).toMatchObject({ error_code: "policy_denied", output: "" });
  expect(existsSync(join(dir(), "here"))).toBe(false);
  // The keeper starts while the policy loads, and removes its directory last.
  await eventually(() => expect(readdirSync(join(dir(), "state", "keepers"))).toEqual([]));
  expect(readdirSync(join(dir(), "state", "shells"))).toEqual([]);
});

test("if no person can be asked, a doubtful command fails, and the error names the flag that allows it", async () => {
  mkdirSync(join(dir(), "work"));
  writeFileSync(join(dir(), "work/file"), "");
  const plain = await nacre("run", ...DOUBTFUL);
  expect(plain).toMatchObject({ code: 3, stdout: "" });
  const [, flag = ""] = /nacre run (--policy \w+)/.exec(plain.stderr) ?? [];
  const json = await nacre("run", "--json", ...DOUBTFUL);
  expect(json.code).toBe(3);
  expect(JSON.parse(json.stdout)).toMatchObject({
    error_code: "approval_pending",
    error: expect.stringContaining(flag),
  });
  expect(existsSync(join(dir(), "work/file"))).toBe(true);
  await nacre("run", ...flag.split(" "), ...DOUBTFUL);
  expect(existsSync(join(dir(), "work/file"))).toBe(false);
});

test("the rules of --policy-file apply, and nothing runs with an unusable file", async () => {
  const file = join(dir(), "rules.json");
  const rule = { id: "no-touch", verdict: "deny", program: "touch", matches: "touch x" };
  writeFileSync(file, JSON.stringify({ version: 1, rules: [rule] }));
  for (const form of [[], ["--json"], ["-b"]]) {
    expect((await nacre("run", ...form, "--policy-file", file, "touch here")).code).toBe(4);
    const broken = await nacre("run", ...form, "--policy-file", `${file}.gone`, "touch here");
    expect(broken.code).toBe(1);
    expect(broken.stdout + broken.stderr).toContain("cannot be used");
  }
  expect(existsSync(join(dir(), "here"))).toBe(false);
});

test.each([
  ["y", 0],
  ["yes", 0],
  ["n", 3],
  ["", 3],
])(
  "a person at the terminal is asked for approval; the answer %j gives exit code %i",
  async (answer, code) => {
    mkdirSync(join(dir(), "work"));
    writeFileSync(join(dir(), "work/file"), "");
    const asked = await nacreWith({ stdin: `${answer}\n`, interactive: true }, "run", ...DOUBTFUL);
    expect(asked.code).toBe(code);
    expect(asked.stderr).toContain("Run it? [y/N]");
    expect(existsSync(join(dir(), "work/file"))).toBe(code !== 0);
  },
);

test("a command is refused if stdin ends before an answer", async () => {
  const { code } = await nacreWith({ stdin: "", interactive: true }, "run", "git reset --hard");
  expect(code).toBe(3);
});

test("the bytes of the output pass through unchanged", async () => {
  const { stdout } = await nacre("run", "printf '\\xff\\x00\\xc3'");
  expect(stdout).toBe(Buffer.from([0xff, 0, 0xc3]).toString());
});

test("with --stdin the command reads nacre's stdin; otherwise its stdin is empty", async () => {
  expect((await nacreWith({ stdin: "two\nlines" }, "run", "cat")).stdout).toBe("");
  expect((await nacreWith({ stdin: "two\nlines" }, "run", "--stdin", "cat; echo .")).stdout).toBe(
    "two\nlines.\n",
  );
  const large = "0123456789".repeat(100_000);
  expect((await nacreWith({ stdin: large }, "run", "--stdin", "--", "wc", "-c")).stdout).toBe("1000000\n");
  // A command that does not read all of its stdin still ends.
  expect((await nacreWith({ stdin: large }, "run", "--stdin", "head -c 3")).stdout).toBe("012");
  expect((await nacreWith({ stdin: large }, "run", "--stdin", "true")).code).toBe(0);
});

test("--stdin is refused with -b and with --json", async () => {
  for (const other of ["-b", "--json"]) {
    const { code, stderr } = await nacre("run", "--stdin", other, "cat");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      new RegExp(`^nacre: --stdin does not work with ${other}: .+ Write the input to a file .+\\n$`),
    );
  }
});

test("--env-mode selects the variables that the command inherits", async () => {
  vi.stubEnv("MY_API_TOKEN", "token-of-mine-123456");
  vi.stubEnv("EDITOR_OF_MINE", "ed");
  const command = "printenv MY_API_TOKEN EDITOR_OF_MINE; printenv HOME | sed 's/.*/home/'";
  const shown = async (...args: string[]) => (await nacre("run", ...args, command)).stdout;
  expect(await shown()).toBe("ed\nhome\n");
  expect(await shown("--env-mode", "all")).toBe("token-of-mine-123456\ned\nhome\n");
  expect(await shown("--env-mode", "core")).toBe("home\n");
  expect(await shown("--env-mode", "none")).toBe("");
});

test("--dry-run judges the command and runs nothing", async () => {
  expect(await nacre("run", "--dry-run", "touch here")).toEqual({
    code: 0,
    stdout: "[Dry Run] Would execute: touch here\n",
    stderr: "",
  });
  expect((await nacre("run", "--dry-run", "rm -rf /")).code).toBe(4);
  expect(await nacre("run", "--dry-run", "--cwd", "/nowhere", "true")).toMatchObject({ code: 1, stdout: "" });
  const json = await nacre("run", "--dry-run", "--json", "touch here");
  expect(JSON.parse(json.stdout)).toMatchObject({
    dry_run: true,
    output: "[Dry Run] Would execute: touch here",
  });
  expect(existsSync(join(dir(), "here"))).toBe(false);
});

test("--mode selects a timeout; with --json, it selects the result format of the modes dialect, too", async () => {
  expect(await nacre("run", "--mode", "slow", "echo hi")).toMatchObject({ code: 0, stdout: "hi\n" });
  const json = await nacre("run", "--mode", "default", "--json", "echo out; echo err >&2; exit 3");
  expect(json.code).toBe(3);
  expect(JSON.parse(json.stdout)).toMatchObject({
    mode: "default",
    error: "[command failed: exit code 3]",
    output: "out\nerr\n",
  });
  const id = (await nacre("run", "--mode", "background", "true")).stdout.trim();
  expect(id).toMatch(/^shell_/);
  const both = await nacre("run", "-b", "--mode", "slow", "--json", "echo hi");
  expect(JSON.parse(both.stdout)).toMatchObject({ bash_id: expect.stringMatching(/^shell_/) });
});

test("the exit code of a command that a signal ended is 128 plus the signal number", async () => {
  expect((await nacre("run", "kill -TERM $$")).code).toBe(143);
  expect((await nacre("run", "bash -c 'kill -SEGV $$'")).code).toBe(139);
});

test("times can be given in seconds, minutes and hours", async () => {
  for (const time of ["20000", "20000ms", "20s", "0.5m", "1h"]) {
    expect((await nacre("run", "--timeout", time, "true")).code).toBe(0);
  }
});
