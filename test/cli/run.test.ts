import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Mark } from "../fixtures/marked.ts";
import { isAlive } from "../fixtures/processes.ts";
import { useCli } from "./run-nacre.ts";

const { nacre, nacreWith, dir } = useCli();

/** The policy wants a person to be asked about it; it empties the directory it runs in. */
const DOUBTFUL = ["--cwd", "work", "find . -delete; true"];

test("output and exit code pass through", async () => {
  expect(await nacre("run", "echo hello; echo oops >&2; exit 3")).toEqual({
    code: 3,
    stdout: "hello\n",
    stderr: "oops\n",
  });
});

test("words are joined by spaces and run in the caller's directory, or the one it names", async () => {
  expect(await nacre("run", "--", "pwd", "-P")).toMatchObject({ code: 0, stdout: `${dir()}\n` });
  expect(await nacre("run", "--cwd", "/", "pwd")).toMatchObject({ code: 0, stdout: "/\n" });
  expect(await nacre("run", "--cwd", ".", "pwd")).toMatchObject({ code: 0, stdout: `${dir()}\n` });
});

test("what the command left running is named and ended", async () => {
  const { code, stdout, stderr } = await nacre("run", "sleep 1000 & echo $!");
  expect(code).toBe(0);
  expect(stderr).toBe(`nacre: left running, ends now: sleep 1000 (pid ${stdout.trim()})\n`);
  expect(isAlive(Number(stdout))).toBe(false);
});

test("a missing directory is an error that names it", async () => {
  const { code, stderr } = await nacre("run", "--cwd", "/nowhere/at/all", "true");
  expect(code).toBe(1);
  expect(stderr).toBe("nacre: Working directory does not exist: /nowhere/at/all\n");
});

test("--env sets variables, the value may hold an equals sign", async () => {
  const { stdout } = await nacre("run", "--env", "A=1", "--env", "B=x=y", 'echo "$A $B"');
  expect(stdout).toBe("1 x=y\n");
});

test("--timeout ends the command and gives exit code 124", async () => {
  const mark = new Mark();
  const command = `echo begun; sleep ${mark.next()}`;
  const plain = await nacre("run", "--timeout", "300", command);
  expect(plain).toEqual({ code: 124, stdout: "begun\n", stderr: "nacre: Command timed out after 300ms\n" });
  const json = await nacre("run", "--json", "--timeout", "300", command);
  expect(json.code).toBe(124);
  expect(JSON.parse(json.stdout)).toMatchObject({
    error: "Command timed out after 300ms",
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

test("a denied command is refused with exit code 4 in every form, and nothing runs", async () => {
  const plain = await nacre("run", "touch here; rm -rf /");
  expect(plain).toMatchObject({ code: 4, stdout: "" });
  expect(plain.stderr).toContain("blocked");
  const json = await nacre("run", "--json", "touch here; rm -rf /");
  expect(json.code).toBe(4);
  expect(JSON.parse(json.stdout)).toMatchObject({ error_code: "policy_denied" });
  expect((await nacre("run", "-b", "touch here; rm -rf /")).code).toBe(4);
  expect(existsSync(join(dir(), "here"))).toBe(false);
});

test("a doubtful command without anybody to ask is refused with exit code 3 and the flag that allows it", async () => {
  mkdirSync(join(dir(), "work"));
  writeFileSync(join(dir(), "work/file"), "");
  const plain = await nacre("run", ...DOUBTFUL);
  expect(plain).toMatchObject({ code: 3, stdout: "" });
  const [, flag = ""] = /nacre run (--policy \w+)/.exec(plain.stderr) ?? [];
  const json = await nacre("run", "--json", ...DOUBTFUL);
  expect(json.code).toBe(3);
  expect(JSON.parse(json.stdout)).toMatchObject({
    error_code: "approval_refused",
    error: expect.stringContaining(flag),
  });
  expect(existsSync(join(dir(), "work/file"))).toBe(true);
  await nacre("run", ...flag.split(" "), ...DOUBTFUL);
  expect(existsSync(join(dir(), "work/file"))).toBe(false);
});

test("--policy-file decides about a command, and one that cannot be used lets nothing run", async () => {
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
  "a person at the terminal is asked about a doubtful command; the answer %j gives exit code %i",
  async (answer, code) => {
    mkdirSync(join(dir(), "work"));
    writeFileSync(join(dir(), "work/file"), "");
    const asked = await nacreWith({ stdin: `${answer}\n`, interactive: true }, "run", ...DOUBTFUL);
    expect(asked.code).toBe(code);
    expect(asked.stderr).toContain("Run it? [y/N]");
    expect(existsSync(join(dir(), "work/file"))).toBe(code !== 0);
  },
);

test("a person who says nothing has not said yes", async () => {
  const { code } = await nacreWith({ stdin: "", interactive: true }, "run", "git reset --hard");
  expect(code).toBe(3);
});
