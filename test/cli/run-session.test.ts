import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useCli } from "./run-nacre.ts";

const { nacre, dir } = useCli();
const inSession = (command: string, ...words: string[]) =>
  nacre("run", "--session", "work", ...words, command);

test("a named session goes on where the last command left it, whichever process ran that", async () => {
  mkdirSync(join(dir(), "api"));
  const first = await inSession(
    `cd ${join(dir(), "api")}; export PORT=80; greet() { echo "hi $1"; }; plain=(a b)`,
  );
  expect(first).toEqual({ code: 0, stdout: "", stderr: "" });
  const second = await inSession('pwd; echo "$PORT"; declare -p plain; greet you; set -u; false');
  expect(second).toMatchObject({
    code: 1,
    stdout: `${join(dir(), "api")}\n80\ndeclare -a plain=([0]="a" [1]="b")\nhi you\n`,
  });
  expect((await inSession("echo $-")).stdout).toContain("u");
});

test("sessions of other names know nothing of it, and --cwd moves it", async () => {
  await inSession("export PORT=80");
  expect((await nacre("run", "--session", "other", "echo [$PORT]")).stdout).toBe("[]\n");
  expect((await inSession("pwd", "--cwd", "/")).stdout).toBe("/\n");
  expect((await inSession("pwd")).stdout).toBe("/\n");
});

test("exit, errors and output pass through, and what was there before is kept", async () => {
  await inSession("kept=yes");
  const ended = await inSession("echo out; echo err >&2; exit 7");
  expect(ended).toMatchObject({ code: 7, stdout: "out\n" });
  expect(ended.stderr).toMatch(/^err\n/);
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
  expect((await inSession("sleep 300", "--timeout", "200ms")).code).toBe(124);
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
});

test("two at once run one after the other", async () => {
  const results = await Promise.all([1, 2, 3].map((n) => inSession(`seen+=${n}; echo "$seen"`)));
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
    [0, ""],
    [0, expect.any(String)],
    [0, expect.any(String)],
  ]);
  const longest = results.map(({ stdout }) => stdout.trim()).sort((a, b) => b.length - a.length)[0] ?? "";
  expect([...longest].sort().join("")).toBe("123");
});

test("what a process left that was killed is taken over, and a broken file costs only the state", async () => {
  await inSession("kept=yes");
  writeFileSync(join(dir(), "state/sessions/work.lock"), "999999999 1");
  expect((await inSession("echo $kept")).stdout).toBe("yes\n");
  writeFileSync(join(dir(), "state/sessions/work.json"), "{");
  expect(await inSession("echo [$kept]")).toMatchObject({ code: 0, stdout: "[]\n" });
  expect(readFileSync(join(dir(), "state/sessions/work.json"), "utf8")).toContain('"cwd"');
});

test("the policy is asked about the place it would run in", async () => {
  await inSession("cd /");
  expect(await inSession("rm -rf etc")).toMatchObject({ code: 4, stdout: "" });
});

test("a name that is none, and words that do not go together, are explained", async () => {
  expect((await nacre("run", "--session", "../x", "true")).stderr).toContain(
    "cannot be the name of a session",
  );
  const both = await nacre("run", "--session", "work", "-b", "true");
  expect(both.code).toBe(2);
});
