// The meaning of a session's next command is the state that can change its effect, such as functions and
// aliases.
import { describe, expect, test } from "vitest";
import { type Meaning, meaningChange } from "../../src/session/session-meaning.ts";
import { openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

describe("the meaning of a session's next command", () => {
  test("is null before the first command, and set as soon as that command has a result", async () => {
    const { session, run, dir } = openSession(shells);
    expect(session.meaning).toBeNull();
    await run("true");
    expect(session.meaning).toMatchObject({ functions: [], aliases: {} });
    expect(Object.keys(session.meaning?.variables ?? {})).toEqual(
      "HOME PWD OLDPWD CDPATH IFS PATH TMPDIR GLOBIGNORE ENV BASH_ENV".split(" "),
    );
    expect(session.meaning?.variables).toMatchObject({ PWD: dir, CDPATH: null, IFS: " \t\n" });
    expect(session.meaning?.shellOptions).toContain("expand_aliases");
  });

  test("names functions, aliases, hashed programs, variables and options that a command has set", async () => {
    const { session, run } = openSession(shells);
    await run("true");
    await run("rm() { :; }; function a=b { :; }; alias ls='rm -rf \"it'\\''s\"' ; hash -p /bin/false grep");
    expect(session.meaning).toMatchObject({
      functions: ["a=b", "rm"],
      aliases: { ls: `rm -rf "it's"` },
      hashed: { grep: "/bin/false" },
    });
    await run("CDPATH=$'/a\\n/b'; IFS=; unset HOME; shopt -s nullglob");
    expect(session.meaning?.variables).toMatchObject({ CDPATH: "/a\n/b", IFS: "", HOME: null });
    expect(session.meaning?.shellOptions).toContain("nullglob");
    await run("unset -f rm; unalias ls; hash -r");
    expect(session.meaning).toMatchObject({ functions: ["a=b"], aliases: {}, hashed: {} });
  });

  test("is correct even if functions, traps, unset arrays or sourced files change it", async () => {
    const { session, run } = openSession(shells);
    await run("unset BASH_ALIASES BASH_CMDS; alias ls=dd; hash -p /bin/dd cat");
    expect(session.meaning).toMatchObject({ aliases: { ls: "dd" }, hashed: { cat: "/bin/dd" } });
    await run("mine() { alias cp=dd; }");
    await run("mine");
    expect(session.meaning?.aliases).toEqual({ cp: "dd", ls: "dd" });
    await run("echo 'alias mv=dd' > file");
    await run(". ./file");
    expect(session.meaning?.aliases).toHaveProperty("mv", "dd");
    await run("trap 'alias trapped=dd' DEBUG");
    await run("/bin/true");
    expect(session.meaning?.aliases).toHaveProperty("trapped", "dd");
  });

  test("is correct even if a name reference refers to one of bash's own arrays", async () => {
    const { session, run } = openSession(shells);
    await run("declare -n table=BASH_ALIASES");
    await run("table[dd]=cat");
    expect(session.meaning?.aliases).toEqual({ dd: "cat" });
  });

  test("omits a value that is too long, and lists an alias with such a value as a function", async () => {
    const { session, run } = openSession(shells);
    await run("PATH=$PATH:$(head -c 300000 /dev/zero | tr '\\0' x); alias ls=\"$PATH\"; CDPATH=/x");
    expect(session.meaning?.variables).not.toHaveProperty("PATH");
    expect(session.meaning).toMatchObject({ functions: ["ls"], aliases: {}, variables: { CDPATH: "/x" } });
  });

  test("is not changed by a command that ended bash", async () => {
    const { session, run } = openSession(shells);
    await run("alias a=b");
    await run("alias c=d; exit 3");
    expect(session.meaning?.aliases).toEqual({ a: "b" });
    await run("true");
    expect(session.meaning?.aliases).toEqual({ a: "b" });
    await session.restart();
    expect(session.meaning).toBeNull();
  });

  test("does not include the variables of one call", async () => {
    const { session, run } = openSession(shells);
    await run("CDPATH=/mine");
    await run("x=1", { env: { CDPATH: "/other", TMPDIR: "/t" } });
    expect(session.meaning?.variables).toMatchObject({ CDPATH: "/mine", TMPDIR: null });
  });

  test("is saved with the session", async () => {
    const first = openSession(shells);
    await first.run("alias a=b");
    const saved = await first.session.save();
    const second = openSession(shells, {}, saved ? { saved } : {});
    expect(second.session.meaning?.aliases).toEqual({ a: "b" });
  });
});

const KNOWN: Meaning = {
  isFragile: false,
  facts: { functions: ["mine"], aliases: { ll: "ls" }, hashed: {}, variables: {}, shellOptions: [] },
};

test.each([
  "alias x=y",
  "ls; alias x=y",
  "ls && eval x",
  "ls | while read x; do :; done",
  "f() { :; }",
  "f () { :; }",
  "function f { :; }",
  "X=y",
  "X=y ls",
  "cd /",
  ". ./x",
  '"alias" x=y',
  "\\alias x=y",
  "al\\\nias x=y",
  "$cmd x",
  "`echo alias` x",
  "{ alias x; }",
  "! alias x",
  "ls; mine",
  "ll x",
  ["echo $", "{x:=1}"].join(""),
  "echo $((x=1))",
  ">f alias x=y",
  "2>&1 alias x=y",
  "ls &\nalias x=y",
  "ls # x\nalias y=z",
  "{alias,x=y}",
  "al* x",
  "printf -v PATH x",
  "[ x ]; hash -r",
  "~/x",
])("a possible change of the meaning is recognized in: %j", (command) => {
  expect(meaningChange(command, KNOWN)).not.toBe("nothing");
});

test.each([
  "true",
  "echo hi",
  "ls -la /tmp 2>&1 | tail -5",
  "git status && npm test",
  "grep -r 'x' . > out",
  ["echo $HOME $", "{USER}"].join(""),
  "(ls; pwd)",
  "echo $(git rev-parse HEAD)",
  "[ -f x ] && cat x",
  "# nothing",
  "./run.sh --x=y",
  "",
])("an ordinary command cannot change the meaning: %j", (command) => {
  expect(meaningChange(command, KNOWN)).toBe("nothing");
});

test.each(["cd / && ls", "X=y", "X=y ls -l", "export X=$Y", "set -u; ls", "read -r x < f", "x=$(ls)"])(
  "a command that can change only variables is recognized: %j",
  (command) => {
    expect(meaningChange(command, KNOWN)).toBe("variables");
  },
);

test("the first command, and every command under a trap, may change the meaning", () => {
  expect(meaningChange("true", { ...KNOWN, isFragile: true })).toBe("everything");
  expect(meaningChange("true", undefined)).toBe("everything");
});
