// Commands disable builtins that the session itself needs, or turn reserved words into aliases.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells();

const RESERVED_WORDS =
  "{ } ! [[ ]] if then elif else fi for while until do done case esac in select function time coproc".split(
    " ",
  );
/** All builtins that the harness uses, and a few others. */
const BUILTINS = (
  ". : [ alias builtin cd compgen declare echo enable eval exec exit export hash printf read return set shopt source " +
  "test trap ulimit umask unset"
).split(" ");

async function killBash({ session, run }: TestSession): Promise<void> {
  const pid = Number((await run('/bin/echo "$$"')).out);
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain("--noprofile");
  await session.save();
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(session.hasBash).toBe(false));
}

describe("an alias named after a reserved word", () => {
  const PRINT_STATE = "\\alias -p; \\echo $V $W; \\declare -f f; \\shopt expand_aliases; \\umask";

  test.each(RESERVED_WORDS)("%s: commands, state and stderr stay unchanged", async (word) => {
    const opened = openSession(shells);
    await opened.run("V=1; f() { /bin/echo f; }; export W=2; umask 027; alias kept='echo alias'");
    await opened.run(`alias '${word}'='echo taken'`);
    const before = await opened.run(PRINT_STATE);
    expect(before).toMatchObject({ exitCode: 0, err: "", notes: [] });
    expect(before.out).toContain(`'echo taken'`);
    expect((await opened.run("set -x; \\false")).err).toMatch(/^\++ false\n$/);
    expect(await opened.run("\\echo $?; \\set +x")).toMatchObject({ out: "1\n" });
    expect((await opened.run("kept é", { env: { OWN: "é" } })).out).toBe("alias é\n");
    await killBash(opened);
    const { out, err, notes } = await opened.run(PRINT_STATE);
    expect(err).toBe("");
    expect(out).toBe(before.out);
    expect(notes.join("\n")).not.toContain("Not restored");
  });

  test("works in a command", async () => {
    const { run } = openSession(shells);
    await run("alias '{'='echo taken' if='echo also'");
    expect((await run("{ a\nif b")).out).toBe("taken a\nalso b\n");
    expect((await run("set -x\n{ a; }")).err).toContain("unexpected token");
    expect((await run("{ b\nif c")).out).toBe("taken b\nalso c\n");
  });
});

test("expand_aliases keeps the setting of the last command, even in a new bash", async () => {
  const opened = openSession(shells);
  await opened.run("alias hello='echo alias'; shopt -u expand_aliases");
  expect((await opened.run("shopt expand_aliases; hello")).out).toMatch(/off\n$/);
  await killBash(opened);
  expect((await opened.run("shopt expand_aliases")).out).toMatch(/off\n$/);
  await opened.run("shopt -s expand_aliases");
  expect((await opened.run("hello")).out).toBe("alias\n");
  await killBash(opened);
  expect((await opened.run("hello; shopt expand_aliases")).out).toMatch(/^alias\n.*on\n$/);
});

describe("a builtin that a command has disabled", () => {
  const PRINT_STATE = '/bin/echo "B=$B"; g; /bin/pwd';
  const EXPECTED = "B=bvar\ngfun\n/usr\n";

  test.each(BUILTINS)(
    "%s: the next commands run as before, both in this bash and in a new bash",
    async (name) => {
      const opened = openSession(shells);
      await opened.run("export B=bvar; g() { /bin/echo gfun; }; \\cd /usr");
      const disabling = await opened.run(`enable -n '${name}'`);
      expect(disabling).toMatchObject({ exitCode: 0, out: "", err: "" });
      const isReplaced = disabling.restarted;
      expect(isReplaced).toBe(name === "builtin" || name === "enable");
      if (isReplaced) expect(disabling.notes.join("\n")).toContain("could not take another command");
      for (let i = 0; i < 2; i++)
        expect(await opened.run(PRINT_STATE)).toMatchObject({
          exitCode: 0,
          out: EXPECTED,
          err: "",
          notes: [],
        });
      const list = isReplaced ? "" : `enable -n ${name}\n`;
      if (!isReplaced) expect(await opened.run("enable -n")).toMatchObject({ out: list });
      expect((await opened.run("/bin/false")).exitCode).toBe(1);
      expect((await opened.run("/bin/echo $?")).out).toBe("1\n");
      await killBash(opened);
      const after = await opened.run(PRINT_STATE);
      expect(after).toMatchObject({ out: EXPECTED, err: "" });
      expect(after.notes.join("\n")).not.toContain("Not restored");
      expect(await opened.run("enable -n")).toMatchObject({ out: list });
    },
  );

  test.each(BUILTINS)("%s: a background shell has the exports, functions and directory", async (name) => {
    const opened = openSession(shells);
    await opened.run("export B=bvar; g() { /bin/echo gfun; }; \\cd /usr");
    await opened.run(`enable -n '${name}'`);
    const shell = await opened.session.start(PRINT_STATE);
    await shell.wait(20_000);
    expect(shell.getAllOutput()).toBe(EXPECTED);
    expect(shell.remarks).toEqual([]);
  });
});

test("a bash that cannot run another command is replaced, and the next command runs in the new one", async () => {
  const { run } = openSession(shells);
  await run("X=1");
  const taken = await run("/bin/echo out; enable -n read eval printf enable");
  expect(taken).toMatchObject({ exitCode: 0, out: "out\n", err: "", restarted: true });
  expect(taken.notes.join("\n")).toContain("could not take another command after this one");
  expect(taken.notes.join("\n")).not.toContain("logger");
  expect(await run("echo $X; read -r y <<<z; echo $y")).toMatchObject({ out: "1\nz\n", err: "", notes: [] });
});

test("disabled builtins can be enabled again", async () => {
  const { run } = openSession(shells);
  await run("enable -n read echo set");
  expect((await run("enable -n")).out).toBe("enable -n echo\nenable -n read\nenable -n set\n");
  await run("enable read echo set");
  expect((await run("enable -n; read -r y <<<z; echo $y")).out).toBe("z\n");
});
