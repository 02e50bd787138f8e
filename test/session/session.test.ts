import { mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bytesOf, openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

describe("state persists between commands", () => {
  test.each([
    ["the directory", "mkdir -p a/b; cd a/b", "basename $PWD", "b"],
    ["a plain variable", "x='a b'", 'echo "$x"', "a b"],
    ["an exported variable", "export X=1", "bash -c 'echo $X'", "1"],
    ["an unset variable", "unset PATH_X; PATH_X=1; unset PATH_X", `echo \${PATH_X-none}`, "none"],
    ["an array", "a=(1 '2 3')", `echo \${#a[@]} \${a[1]}`, "2 2 3"],
    ["an associative array", "declare -A m=([k]=v)", `echo \${m[k]}`, "v"],
    ["attributes", "declare -i n=1; n+=5; readonly r=2", `n+=1; echo $n \${r@a}`, "7 r"],
    ["a function", "f() { echo f $1; }", "f 1", "f 1"],
    ["an alias", "alias ll='echo listed'", "ll", "listed"],
    ["shell options", "shopt -s extglob nullglob", "echo @(a|b)z* .", "."],
    ["set options", "set -o pipefail -f", "echo $-; false | true || echo *", /f.*\n\*$/],
    ["the umask", "umask 027", "umask", "0027"],
    ["a trap", "trap 'echo usr' USR1", "kill -USR1 $$", "usr"],
    ["the trap on EXIT", "trap 'echo bye' EXIT", "trap -p EXIT", "trap -- 'echo bye' EXIT"],
    ["positional parameters", "set -- x y", "echo $2", "y"],
    ["the last exit code", "(exit 7)", "echo $?", "7"],
    ["open descriptors", "exec 7>seven; echo a >&7", "echo b >&7; cat seven", "a\nb"],
    ["a sourced file", "echo 'sourced=1' >s; . ./s", "echo $sourced", "1"],
    ["the directory stack", "pushd / >/dev/null", "popd >/dev/null; dirs -p | wc -l", "1"],
    ["LC_ALL", "LC_ALL=C", `x='ä'; echo \${#x}`, "2"],
    ["IFS", "IFS=,", 'x=a,b; set -- $x; echo "$2"', "b"],
  ])("%s", async (_, first, then, expected) => {
    const { run, say } = openSession(shells);
    await run(first);
    expect(await say(then)).toEqual(
      typeof expected === "string" ? expected : expect.stringMatching(expected),
    );
  });

  test("background jobs can be listed and waited for later", async () => {
    const { say, run } = openSession(shells);
    await run("(exit 4) & sleep 300 &");
    expect(await say("jobs %2 | tr -s ' '")).toBe("[2]+ Running sleep 300 &");
    expect((await run("wait %1")).exitCode).toBe(4);
    expect(await say("kill %2; wait %2; echo $?")).toBe("143");
    await run("(exit 5) & (exit 5) &");
    expect((await run("wait -n")).exitCode).toBe(5);
    expect((await run("wait")).exitCode).toBe(0);
  });

  test("set -x traces the commands but not the harness", async () => {
    const { run } = openSession(shells);
    await run("set -x");
    expect((await run("echo a")).err).toMatch(/^\++ echo a\n$/);
    expect((await run("false")).err).toMatch(/^\++ false\n$/);
    expect((await run("set +x")).err).toMatch(/^\++ set \+x\n$/);
    expect((await run("echo b")).err).toBe("");
  });

  test("DEBUG and RETURN traps run for the commands but not for the harness", async () => {
    const { say, run } = openSession(shells);
    await run("trap 'echo D' DEBUG");
    expect(await say("echo a\necho b")).toBe("D\na\nD\nb");
    expect(await say("trap - DEBUG; echo c")).toBe("D\nc");
    expect(await say("echo d")).toBe("d");
    await run("f() { :; }; trap 'echo returned' RETURN");
    await run("false");
    expect(await say("echo x")).toBe("x");
  });

  test("set -a, set -v and noclobber do not affect the harness", async () => {
    const { run, say } = openSession(shells);
    await run("set -a -C; X=exported");
    expect(await say("bash -c 'echo $X'")).toBe("exported");
    expect(await say("env | grep -c nacre_ || true")).toBe("0");
    await run("set +a; set -v");
    expect((await run("echo v")).out).toBe("v\n");
    await run("set +v");
    expect((await run("echo w")).err).toBe("");
  });
});

describe("output", () => {
  test("is exactly the command's, byte for byte", async () => {
    const { run } = openSession(shells);
    for (const text of ["  x", "\n", "\n\nx\n\n", "x", "a\0b", "", "é"]) {
      const command = `printf '${text.replaceAll("\n", "\\n").replaceAll("\0", "\\0")}'`;
      const result = await run(command);
      expect(bytesOf(result.stdout)).toEqual(Buffer.from(text));
      expect(result).toMatchObject({ exitCode: 0, err: "", notes: [], restarted: false });
    }
  });

  test("of binary data is complete", async () => {
    const { run, dir } = openSession(shells);
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
    writeFileSync(join(dir, "data"), bytes);
    expect(bytesOf((await run("cat data")).stdout)).toEqual(bytes);
    expect(bytesOf((await run("cat data >&2")).stderr)).toEqual(bytes);
  });

  test("that is long has a separate file, which contains no output of other commands", async () => {
    const { run } = openSession(shells);
    await run("echo before");
    const { stdout } = await run("seq 20000");
    expect(stdout.from).toBe(0);
    expect((await run("echo after")).out).toBe("after\n");
    const first = bytesOf({ ...stdout, to: Number.MAX_SAFE_INTEGER }).toString();
    expect(first.startsWith("1\n2\n")).toBe(true);
    expect(first.endsWith("20000\n")).toBe(true);
  });

  test("that a program has set to non-blocking does not break the next command", async () => {
    const { run } = openSession(shells);
    const flags = "perl -MFcntl -e 'fcntl(STDOUT, F_SETFL, O_NONBLOCK | fcntl(STDOUT, F_GETFL, 0))'";
    await run(flags);
    expect((await run("seq 100000 | tail -1; seq 100000")).stdout.to).toBeGreaterThan(588_000);
    // This program keeps running and sets the flag again and again.
    await run(`perl -MFcntl -e 'while (1) { fcntl(STDOUT, F_SETFL, O_NONBLOCK) }' &`);
    const { stdout } = await run("seq 100000");
    expect(stdout.to - stdout.from).toBe(588_895);
  });
});

describe("input", () => {
  test("of 20 kB or 1 MiB is read and run completely", async () => {
    const { run } = openSession(shells);
    const long = `cat <<'EOF' | wc -c\n${"x".repeat(1024 ** 2)}\nEOF`;
    expect((await run(long)).out.trim()).toBe(String(1024 ** 2 + 1));
    expect((await run(`: ${"y".repeat(20_000)}; echo done`)).out).toBe("done\n");
    expect((await run(`: ${"ä".repeat(100_000)}; echo done`)).out).toBe("done\n");
  });

  test("with a NUL character is refused, and an empty command does nothing", async () => {
    const { run } = openSession(shells);
    await expect(run("a\0b")).rejects.toMatchObject({ code: "invalid_input" });
    expect(await run("")).toMatchObject({ exitCode: 0, out: "", err: "" });
    expect(await run("\n \n")).toMatchObject({ exitCode: 0, out: "" });
  });

  test.each(["C", "POSIX", "C.UTF-8", "nosuch_LOCALE"])(
    "may contain non-ASCII characters under LC_ALL=%s",
    async (locale) => {
      const { run } = openSession(shells);
      await run(`export LC_ALL=${locale}`);
      expect(await run("printf %s 'äö€😀'; printf '\\n'")).toMatchObject({
        exitCode: 0,
        out: "äö€😀\n",
        err: "",
      });
      expect(await run("echo ascii")).toMatchObject({ out: "ascii\n", err: "" });
    },
  );
});

describe("the working directory", () => {
  test("is in the result, with a flag that shows whether it changed", async () => {
    const { run, dir } = openSession(shells);
    expect(await run("true")).toMatchObject({ cwd: dir, cwdChanged: false });
    expect(await run("mkdir sub; cd sub")).toMatchObject({ cwd: join(dir, "sub"), cwdChanged: true });
    expect(await run("true")).toMatchObject({ cwd: join(dir, "sub"), cwdChanged: false });
  });

  test("keeps symbolic links in its path as bash does, and does not depend on PWD", async () => {
    const { run, dir } = openSession(shells);
    mkdirSync(join(dir, "real"));
    symlinkSync(join(dir, "real"), join(dir, "link"));
    expect((await run("cd link")).cwd).toBe(join(dir, "link"));
    expect((await run("cd ..; PWD=/nonsense")).cwd).toBe(dir);
    expect((await run(`cd /usr; PWD='${dir}'`)).cwd).toBe("/usr");
    expect((await run("cd /usr; readonly PWD; cd /etc")).cwd).toBe("/etc");
  });

  test("of a call is entered only if it differs from that of the previous call", async () => {
    const { run, session, dir } = openSession(shells);
    const other = shells.directory();
    expect((await run("pwd", { workingDir: dir })).out).toBe(`${dir}\n`);
    expect((await run("pwd; cd /", { workingDir: other })).out).toBe(`${other}\n`);
    expect((await run("pwd", { workingDir: other })).out).toBe("/\n");
    expect((await run("pwd", { workingDir: dir })).out).toBe(`${dir}\n`);
    await expect(run("pwd", { workingDir: join(dir, "none") })).rejects.toThrow("does not exist");
    expect(session.cwd).toBe(dir);
  });

  test("that was removed is replaced by the nearest existing parent, with a note", async () => {
    const { run, dir } = openSession(shells);
    await run("mkdir -p a/b; cd a/b");
    rmSync(join(dir, "a"), { recursive: true });
    const result = await run("pwd; echo >made; ls");
    expect(result).toMatchObject({ exitCode: 0, out: `${dir}\nmade\n`, err: "", cwd: dir });
    expect(result.notes).toEqual([expect.stringContaining(`${join(dir, "a/b")} is gone`)]);
    expect((await run("pwd")).notes).toEqual([]);
    await run("mkdir c; cd c");
    rmSync(join(dir, "c"), { recursive: true });
    mkdirSync(join(dir, "c"));
    expect((await run("touch x; ls")).notes).toEqual([expect.stringContaining("created again")]);
    expect(readdirSync(join(dir, "c"))).toEqual(["x"]);
  });

  test("is reset with a note if it is outside the allowed directories", async () => {
    const root = shells.directory();
    const { run } = openSession(shells, { allowedRoots: [root] }, { workingDir: root });
    await run("mkdir in; cd in");
    const out = await run("cd /; pwd");
    expect(out).toMatchObject({ out: "/\n", cwd: join(root, "in"), cwdChanged: false });
    expect(out.notes).toEqual([expect.stringContaining("outside the allowed directories")]);
    expect(await run("pwd")).toMatchObject({ out: `${join(root, "in")}\n`, notes: [] });
    symlinkSync("/usr", join(root, "in", "link"));
    expect((await run("cd link")).cwd).toBe(join(root, "in"));
    await expect(run("true", { workingDir: "/" })).rejects.toThrow("outside the allowed directories");
  });
});

describe("a call's own variables", () => {
  test("exist only for that command", async () => {
    const { run, say } = openSession(shells);
    await run("A=plain; export B=exported; unset C");
    const env = { A: "1", B: "two 'words'", C: "ä\nb" };
    expect(await say('echo "$A|$B|$C"; bash -c \'echo "$A|$B|$C"\'; A=changed', { env })).toBe(
      "1|two 'words'|ä\nb\n1|two 'words'|ä\nb",
    );
    expect(await say(`echo "$A|$B|\${C-none}"; bash -c 'echo "\${A-none}|$B"'`)).toBe(
      "plain|exported|none\nnone|exported",
    );
  });

  test("do not exist in a new bash", async () => {
    const { run, say } = openSession(shells);
    await run("exit 3", { env: { TEMPORARY: "1" } });
    expect(await say(`echo \${TEMPORARY-none}`)).toBe("none");
  });

  test("are refused by name if they cannot be set", async () => {
    const { run } = openSession(shells);
    await expect(run("true", { env: { "a-b": "1" } })).rejects.toThrow('"a-b"');
    await expect(run("true", { env: { SHELLOPTS: "x" } })).rejects.toThrow("SHELLOPTS");
  });
});

test("a session's bash looks like any other bash", async () => {
  const { say, dir } = openSession(shells);
  expect(await say("echo $0; echo $BASHPID = $$; ls /proc/$$/fd | wc -w")).toMatch(
    /^bash\n(\d+) = \1\n[3-8]$/,
  );
  expect(await say("grep -E 'Sig(Ign|Blk)' /proc/self/status")).toMatch(/^SigBlk:\t0+\nSigIgn:\t0+$/);
  expect(await say("compgen -v | grep -c '^__nacre'")).toBe("1");
  expect(await say("declare -F")).toBe("");
  expect(await say("ps -o pgid= -p $$ | tr -d ' '; echo $$")).toMatch(/^(\d+)\n\1$/);
  expect(await say("echo $SHLVL; pwd -P")).toBe(`1\n${realpathSync(dir)}`);
});
