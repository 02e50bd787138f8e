// The shim passes the environment to a command byte for byte.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENVIRONMENT_STRING_MAX_BYTES, JOB_MAX_BYTES } from "../../src/support/limits.ts";
import { BASH } from "../fixtures/keepers.ts";
import { loggerPids } from "../fixtures/marked.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, directory, run } = useShells();
const PRINT = (name: string) => `printf %s "$${name}" | od -An -v -tx1 | tr -d ' \\n'; echo`;
const hex = (text: string) => Buffer.from(text).toString("hex");

/** Variable names that nacre's scripts or bash use. A caller can set them like any other variable. */
const AWKWARD = {
  hook: "h",
  shell_path: "/nowhere",
  env_path: "/nowhere",
  keeper_dir: "/nowhere",
  dir: "d",
  tag: "t",
  fifo: "f",
  streams: "s",
  generation: "g",
  identity_tail: "i",
  covered: "c",
  durable: "d",
  shim_of: "s",
  spared_tags: "t",
  lifeline: "7",
  deputy_pid: "1",
  command_line: "l",
  REPLY: "r",
  nacre_pair: "p",
  code: "1",
  flags: "clu",
  kind: "slot",
  TERM: "dumb",
  LD_LIBRARY_PATH: "/nowhere",
  EMPTY: "",
};

describe("a variable", () => {
  test.each([
    ["new\nlines\n", "plain"],
    ["equals=signs=", "plain"],
    ["", "empty"],
    [" spaces ", "plain"],
    ["é漢🐚", "unicode"],
    ["'\"\\$(id)`id`!*?", "quotes"],
    ["-n", "a dash"],
    ["\x01\x7f\t\r", "control characters"],
  ])("of %j arrives unchanged (%s), with the job and with the slot", async (value) => {
    const shells = manager({ environment: { set: { BASE: value } } });
    const text = `${PRINT("BASE")}; ${PRINT("OWN")}; ${PRINT("SLOW")}`;
    const [quick, slow] = await Promise.all([
      run(shells, text, { env: { OWN: value } }),
      // A name that a running bash cannot set requires a separate slot.
      run(shells, text, { env: { OWN: value, SLOW: value, RANDOM: "7" } }),
    ]);
    expect(quick.getAllOutput()).toBe(`${hex(value)}\n${hex(value)}\n\n`);
    expect(slow.getAllOutput()).toBe(`${hex(value)}\n`.repeat(3));
  });

  test("whose name nacre uses itself has no side effects, neither in the job nor in the base environment", async () => {
    const text = Object.keys(AWKWARD)
      .map((name) => `printf '%s=%s\\n' ${name} "$(printenv ${name})"`)
      .join("; ");
    const expected = Object.entries(AWKWARD).map(([name, value]) => `${name}=${value}\n`);
    const asJob = await run(manager(), text, { env: AWKWARD });
    expect(asJob.getAllOutput()).toBe(expected.join(""));
    const asBase = await run(manager({ environment: { set: AWKWARD } }), text);
    expect(asBase.getAllOutput()).toBe(expected.join(""));
  });

  test("that bash manages has the same value as in a plain bash", async () => {
    const env = {
      IFS: "x",
      RANDOM: "7",
      UID: "12345",

      DIRSTACK: "d",
      PS4: "> ",
      OPTIND: "3",
    };
    const text =
      'printf "%q\\n" "$IFS" "$UID" "$PS4" "$OPTIND"; env | grep -E "^(IFS|UID|RANDOM|DIRSTACK|PS4)=" | sort';
    const file = join(directory(), "cmd");
    writeFileSync(file, text);
    const plain = execFileSync(BASH, [file], { env: { PATH: "/usr/bin:/bin", ...env }, encoding: "utf8" });
    expect((await run(manager(), text, { env })).getAllOutput()).toBe(plain);
  });

  test("called TMOUT in the base environment does not end slots that wait longer", async () => {
    const shells = manager({ environment: { set: { TMOUT: "1" } }, poolSize: 1 });
    await shells.warmUp();
    // The time passes in a command, while the next slot waits.
    await run(shells, "sleep 1.5");
    expect((await run(shells, 'echo "$TMOUT $PWD"')).getAllOutput()).toBe(`1 ${tmpdir()}\n`);
  });
});

describe("BASH_ENV", () => {
  test("of the caller is read before the command, and stays set", async () => {
    const file = join(directory(), "env file");
    writeFileSync(file, "greet() { echo hello from $FUNCNAME; }\n");
    const shell = await run(manager(), 'greet; echo "$BASH_ENV"', { env: { BASH_ENV: file } });
    expect(shell.getAllOutput()).toBe(`hello from greet\n${file}\n`);
  });

  test("is expanded as bash does", async () => {
    const dir = directory();
    writeFileSync(join(dir, "rc"), "X=read\n");
    const env = { BASH_ENV: "$RC_DIR/rc", RC_DIR: dir };
    expect((await run(manager(), 'echo "$X"', { env })).getAllOutput()).toBe("read\n");
  });

  test("is not set unless the caller sets it", async () => {
    const shell = await run(manager(), `echo "\${BASH_ENV-none}"; env | grep -c BASH_ENV`);
    expect(shell.getAllOutput()).toBe("none\n0\n");
  });

  test("works with a PATH without programs", async () => {
    const file = join(directory(), "rc");
    writeFileSync(file, "X=read\n");
    const env = { BASH_ENV: file, PATH: "/nowhere", RANDOM: "1" };
    const shell = await run(manager(), 'echo "$X $PATH"', { env });
    expect(shell.getAllOutput()).toBe("read /nowhere\n");
  });
});

test("a command's bash catches no more signals than a plain bash", async () => {
  const print = "grep '^Sig[CI]' /proc/$$/status; :";
  const plain = execFileSync(BASH, ["-c", print], { encoding: "utf8" });
  const caught = (text: string) => BigInt(`0x${/^SigCgt:\s+(\w+)$/m.exec(text)?.[1]}`);
  const shell = await run(manager(), print);
  // bash catches INT while it waits for a pipe.
  const SIGINT = 2n;
  expect(caught(shell.getAllOutput()) & ~SIGINT).toBe(caught(plain) & ~SIGINT);
});

test("POSIXLY_CORRECT puts a command's bash in POSIX mode, and bash still reads its job", async () => {
  const shell = await run(manager(), "shopt -qo posix && echo posix; pwd", { env: { POSIXLY_CORRECT: "1" } });
  expect(shell.getAllOutput()).toBe(`posix\n${tmpdir()}\n`);
});

test("a missing locale causes no more warnings than in a plain bash", async () => {
  const shell = await run(manager(), "echo ok", { env: { LC_ALL: "xx_YY.UTF-8" } });
  expect(shell.getAllOutput()).not.toContain("hook.sh");
  expect(shell.getAllOutput()).toMatch(/^ok\n/);
});

describe("a large environment", () => {
  test.each([
    ["just below", JOB_MAX_BYTES - 200],
    ["just above", JOB_MAX_BYTES + 200],
    ["of one variable near its maximum, above", ENVIRONMENT_STRING_MAX_BYTES - 100],
  ])("%s the size limit of a job arrives unchanged", async (_, size) => {
    const shell = await run(manager(), `echo "\${#BIG} $PWD"`, { env: { BIG: "x".repeat(size) } });
    expect(shell.getAllOutput()).toBe(`${size} ${tmpdir()}\n`);
  });

  test("of nearly 2 MiB arrives unchanged", async () => {
    const names = Array.from({ length: 15 }, (_, i) => `BIG_${i}`);
    const env = Object.fromEntries(names.map((name) => [name, "y".repeat(120_000)]));
    const shell = await run(manager(), "env | grep ^BIG_ | wc -c", { env });
    expect(Number(shell.getAllOutput())).toBe(names.join("").length + 15 * 120_002);
  });
});

describe("streams", () => {
  test("that are split have one logger each; merged streams share a logger and keep their order", async () => {
    const shells = manager();
    const order = await run(shells, "for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 4", {
      streams: "merged",
    });
    expect(order.getAllOutput()).toBe("out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    expect(order.exitCode).toBe(4);
    const merged = await shells.createShell({
      command: "sleep 300",
      workingDir: tmpdir(),
      streams: "merged",
    });
    const split = await shells.createShell({ command: "sleep 300", workingDir: tmpdir() });
    await loggerPids(split.started.shimPid, 2);
    await loggerPids(merged.started.shimPid, 1);
  });

  test("are not truncated by reopening /dev/stdout and /dev/stderr", async () => {
    const text = "echo a; echo b > /dev/stderr; echo c > /dev/stdout; echo d >&2";
    expect((await run(manager(), text)).getAllOutput()).toBe("a\nc\n[stderr]\nb\nd\n");
  });
});

test("a working directory that is removed between the check and the start is reported as missing", async () => {
  const shells = manager({ poolSize: 0 });
  await shells.warmUp();
  const workingDir = join(directory(), "gone");
  mkdirSync(workingDir);
  const starting = shells.createShell({ command: "echo ran", workingDir });
  rmdirSync(workingDir);
  const shell = await starting;
  await shell.wait(10_000);
  expect(shell.outcome).toEqual({
    kind: "failedToStart",
    reason: "the working directory was gone when it started",
  });
  expect(shell).toMatchObject({ status: "failed", exitCode: null });
  expect(shell.getAllOutput()).toBe("");
});
