// A session continues after its bash has ended for any reason.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

const STATE = [
  "mkdir d; cd d; plain='a b'; export EXPORTED=$'x\\ny'; arr=(1 '2 3'); declare -A map=([k]='v w')",
  "shopt -s extglob; set -o pipefail; set -f; umask 027; alias hi='echo hello'; trap 'echo usr' USR1",
  "f() { case $1 in @(a|b)) echo matched;; esac; }; g() { echo g; }; export -f g; unset HOME; declare -ri fixed=5",
];
const CHECK = `basename "$PWD"; echo "$plain|$EXPORTED|\${arr[1]}|\${map[k]}|$fixed|\${HOME-none}"; umask; hi; f b; kill -USR1 $$; echo $-; bash -c g; false | true; echo $?; bash -c 'echo "$EXPORTED"'`;

describe.each([
  ["exit 3", 3],
  ["exit", 0],
  ["x=lost; exit 200", 200],
  ["set -e; false", 1],
  ["set -u; echo $unset_variable", 1],
  ["exec true", 0],
  ["exec sh -c 'exit 9'", 9],
  ["exec nosuchprogram", 127],
  ["kill -9 $$", 137],
  ["kill -SEGV $$", 139],
  ["kill $$", 143],
  ["set -n", 0],
  ["enable -n eval printf builtin", 0],
  ["builtin() { :; }; (exit 4)", 4],
  ["enable -n builtin; (exit 6)", 6],
])("after `%s`", (command, code) => {
  test("the result has the exit code, and a new bash has the state from before the command", async () => {
    const { run, session } = openSession(shells);
    for (const line of STATE) expect((await run(line)).exitCode).toBe(0);
    const before = await run(CHECK);
    const end = await run(command);
    expect(end).toMatchObject({ exitCode: code, restarted: true, cwdChanged: false, leftovers: [] });
    expect(end.notes).toEqual([expect.stringContaining("new one continues")]);
    const after = await run(CHECK);
    expect(after).toMatchObject({ exitCode: 0, err: "", restarted: false, notes: [] });
    expect(after.out).toBe(before.out);
    expect((await run(`echo \${x-none} $-`)).out).toMatch(/^none [^eux]*\n$/);
    expect(session.isClosed).toBe(false);
  });
});

test.each([
  "eval",
  "printf",
  "read",
  "command",
  "unset",
  "ulimit",
  "set",
  "trap",
  "declare",
  "cd",
  "exec",
  ".",
  ":",
  "umask",
  "alias",
  "exit",
])("a function named %s works and does not break the session", async (name) => {
  const { run } = openSession(shells);
  expect(await run(`function ${name} { builtin echo mine; }`)).toMatchObject({
    exitCode: 0,
    restarted: false,
  });
  expect(await run(`${name} x`)).toMatchObject({ exitCode: 0, out: "mine\n", restarted: false });
  await run("false");
  expect(await run("builtin echo $?")).toMatchObject({ out: "1\n", notes: [] });
});

test.each(["builtin", "eval", "read", "printf", "exec", "trap"])(
  "an alias named %s works and does not break the session",
  async (name) => {
    const { run } = openSession(shells);
    await run(`alias '${name}=false'`);
    expect(await run("echo a")).toMatchObject({ exitCode: 0, out: "a\n", restarted: false });
  },
);

test("posix mode and a readonly harness variable do not stop a session", async () => {
  const { run } = openSession(shells);
  await run("set -o posix");
  expect(await run("echo a; (exit 3)")).toMatchObject({ exitCode: 3, out: "a\n", restarted: false });
  await run("set +o posix");
  const name = (await run("compgen -v __nacre_")).out.trim();
  expect(await run(`readonly ${name}`)).toMatchObject({ out: "", err: "", restarted: true });
  expect(await run("echo c")).toMatchObject({ exitCode: 0, out: "c\n", restarted: false });
});

test("an EXIT trap runs when bash ends, and is not restored in the next bash", async () => {
  const { run } = openSession(shells);
  await run("trap 'echo bye; echo err >&2' EXIT");
  expect(await run("echo out; exit 4")).toMatchObject({ exitCode: 4, out: "out\nbye\n", err: "err\n" });
  expect((await run("trap -p EXIT; exit 5")).out).toBe("");
});

test("a bash that dies between two commands is replaced, with a note", async () => {
  const { run } = openSession(shells);
  const pid = Number((await run("x=kept; echo $$")).out);
  // The session saves the state after the first command before this command returns.
  await run("true");
  process.kill(pid, "SIGKILL");
  const result = await run("echo $x");
  expect(result).toMatchObject({ exitCode: 0, out: "kept\n", restarted: true });
  expect(result.notes).toEqual([expect.stringContaining("had ended")]);
});

test("set -t does not end a session", async () => {
  const { run } = openSession(shells);
  expect(await run("x=kept; set -t; echo a")).toMatchObject({ exitCode: 0, out: "a\n" });
  for (let round = 0; round < 3; round++)
    expect(await run("echo $x")).toMatchObject({ exitCode: 0, out: "kept\n", restarted: false });
});

test("a session continues after its directory was removed and its bash ended", async () => {
  const { run, dir } = openSession(shells);
  mkdirSync(join(dir, "gone"));
  await run("cd gone; x=1");
  rmSync(join(dir, "gone"), { recursive: true });
  expect((await run("exit 3")).exitCode).toBe(3);
  const after = await run("pwd; echo $x");
  expect(after.out).toBe(`${dir}\n1\n`);
});

test("jobs of an ended bash keep running, and end with the session", async () => {
  const { run, session } = openSession(shells);
  const pid = Number((await run("sleep 300 >/dev/null 2>&1 & echo $!")).out);
  await run("exit 3");
  await run("exit 4");
  expect(existsSync(`/proc/${pid}`)).toBe(true);
  const { signalled, survivors } = await session.close();
  expect(signalled.map((process) => process.pid)).toContain(pid);
  expect(survivors).toEqual([]);
  await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
  await expect(run("true")).rejects.toThrow("closed");
});

test("closing a session ends the running command, which keeps its output", async () => {
  for (const interrupted of [false, true]) {
    const { run, session, dir } = openSession(shells);
    const running = run("trap '' TERM INT; echo begun; touch here; while :; do sleep 0.02; done");
    await eventually(() => expect(existsSync(join(dir, "here"))).toBe(true));
    if (interrupted) void session.interrupt();
    const { survivors } = await session.close({ graceMs: 0 });
    expect(survivors).toEqual([]);
    const { out, outcome } = await running;
    expect({ out, kind: outcome?.kind }).toEqual({
      out: "begun\n",
      kind: interrupted ? "aborted" : "killed",
    });
    await expect(run("true")).rejects.toThrow("closed");
  }
});

test("a bash that read an unterminated substitution is replaced", async () => {
  const { run } = openSession(shells);
  await run("x=kept");
  for (let round = 0; round < 5; round++) {
    expect((await run("echo $(echo a")).exitCode).toBe(2);
    expect(await run("fi")).toMatchObject({ exitCode: 2, restarted: false });
    expect(await run("echo $x $(echo b)")).toMatchObject({ exitCode: 0, out: "kept b\n", restarted: false });
  }
});

test("a restored state that ends every new bash does not break the session", async () => {
  const { run } = openSession(shells);
  await run("export PATH; x=1");
  // Restoring declarations cannot end bash, but a signal that a restored trap sends can.
  await run("trap 'kill -9 $$' CHLD; y=2");
  const result = await run("exit 3");
  expect(result.restarted).toBe(true);
  expect((await run("echo alive")).out).toBe("alive\n");
});

test("if bash exits right after its start, the exit is detected in each of 40 rounds", async () => {
  for (let round = 0; round < 40; round++) {
    const { run, session } = openSession(shells);
    expect(await run("exit 3")).toMatchObject({ exitCode: 3, restarted: true });
    await session.close();
  }
});
