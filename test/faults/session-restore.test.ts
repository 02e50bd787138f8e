// A new bash restores every part of its predecessor's state that it can, and names the rest. NACRE_LONG=1
// tests 500 random states.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLong } from "../fixtures/long.ts";
import { openSession, type TestSession } from "../fixtures/sessions.ts";
import { eventually, useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });
const STATES = isLong ? 500 : 15;

/** Prints all state that a later command could see, one section per kind of state. */
const PRINT_STATE = [
  "declare -p | grep -avE '^declare -[^ ]+ (BASH|EPOCH|LINENO|PPID|RANDOM|SRANDOM|SECONDS|PIPESTATUS|FUNCNAME|HISTCMD|DIRSTACK|GROUPS|_=|__nacre)'",
  "declare -f",
  "declare -F",
  "alias -p",
  "trap -p",
  "shopt",
  "set -o | grep -vE 'errexit|nounset|xtrace'",
  "umask",
  "pwd",
]
  .map((words) => `builtin ${words} 2>&1 | cat -v; echo "----"`)
  .join("\n")
  .replaceAll("builtin declare -p |", "builtin declare -p 2>&1 |");

async function killBash({ session, run }: TestSession): Promise<void> {
  const pid = Number((await run('builtin echo "$$"')).out);
  // Check the PID before the kill: the random state can change the output of echo, and so the PID in it.
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).toContain("--noprofile");
  // Wait for the saved state: bash saves it after its result.
  await session.save();
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(session.hasBash).toBe(false));
}

describe("a state with a part that bash may not be able to read back", () => {
  test.each([
    [
      "a pattern that needs extglob",
      'shopt -s extglob\ng() { case $1 in !(a|b)) echo "$x";; esac; }\nshopt -u extglob',
    ],
    ["a name with an equals sign", "function a=b { echo odd; }"],
    ["a function named declare", "declare() { echo mine; }"],
    [
      "functions named after builtins",
      "trap() { :; }; alias() { :; }; set() { :; }; umask() { :; }; eval() { :; }; printf() { :; }; unset() { :; }; shopt() { :; }",
    ],
    ["aliases named after builtins", "alias trap=: alias=: set=: umask=: declare=: unset=:"],
    ["an unnamed coprocess in a function", "f() { coproc cat; coproc X { cat; }; }"],
    [
      "integers, cases and readonly",
      "declare -i n=5; w='a b'; declare -i w; declare -u U=abc; L=ABC; declare -l L; readonly R=1; declare -ra RA=(1 2)",
    ],
    [
      "odd keys, references, declarations",
      "declare -A m=(['a b']=1 ['x]y']=2 [\"'\"]=3 ['\"']=4 ['$x']=5 ['\\']=6); declare -n r=m; declare -a e; declare u; declare -x ux; declare -t t=1",
    ],
    ["bytes", "b=$'\\001\\377\\n\\033'; export c=$'\\303\\050'"],
    ["text that looks like a function", "f() { cat <<X\n}\nzz () \n{ \n    :\n}\nX\n}\nzz() { echo zz; }"],
    ["exported functions", "f() { echo f; }; export -f f; declare -ft f"],
    ["unset variables of bash", "unset PS4 OPTERR; IFS=:"],
  ])("%s: the rest is restored, and a note names every difference", async (_, script) => {
    const opened = openSession(shells);
    await opened.run(
      "x=kept; alias kept='echo alias'; trap 'echo usr' USR1; shopt -s nullglob; kept() { echo function; }",
    );
    await opened.run(script);
    const before = (await opened.run(PRINT_STATE)).out;
    await killBash(opened);
    const { out: after, notes } = await opened.run(PRINT_STATE);
    const differing = before.split("\n").filter((line) => !after.split("\n").includes(line));
    if (notes.every((note) => !note.startsWith("Not restored"))) expect(after).toBe(before);
    else expect(differing).not.toEqual([]);
    expect(after).toContain('x="kept"');
    expect(after).toContain("alias kept='echo alias'");
    expect(after).toContain("echo usr");
    expect(after).toContain("echo function");
    expect(after).toMatch(/nullglob\s+on/);
  });
});

test("a function with an unnamed coprocess runs in a new bash as before", async () => {
  const opened = openSession(shells);
  await opened.run(
    `f() { coproc cat; echo hi >&\${COPROC[1]}; read -r x <&\${COPROC[0]}; echo $x; kill $COPROC_PID; }`,
  );
  expect((await opened.run("f")).out).toBe("hi\n");
  await killBash(opened);
  const { out, notes } = await opened.run("f");
  expect(out).toBe("hi\n");
  expect(notes.filter((note) => note.startsWith("Not restored"))).toEqual([]);
});

test.each(["IFS=", "IFS=:", "IFS=ABC"])("%s: all shell options are restored", async (statement) => {
  const opened = openSession(shells);
  await opened.run(`shopt -s nullglob; ${statement}`);
  await killBash(opened);
  const { out, notes } = await opened.run("shopt extglob nullglob");
  expect(out).toMatch(/^extglob\s+off\nnullglob\s+on\n$/);
  expect(notes.filter((note) => note.startsWith("Not restored"))).toEqual([]);
});

test("a background shell has the exports and functions, and nacre prints nothing to its stderr", async () => {
  const opened = openSession(shells);
  await opened.run(
    "shopt -s extglob\ng() { case $1 in !(a|b)) :;; esac; }\nshopt -u extglob; function a=b { :; }; declare() { :; }",
  );
  await opened.run("export SHOWN=yes; f() { echo f; }");
  const shell = await opened.session.start("echo $SHOWN; f; echo err >&2");
  await shell.wait(20_000);
  expect(shell.getAllOutput()).toBe("yes\nf\n[stderr]\nerr\n");
});

const NAME = fc.constantFrom("a", "b1", "_x", "HOME", "PATH", "IFS", "OPTIND", "PS4", "foo", "declare", "f");
const VALUE = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom("", "a b", "'", '"', "$x", "`", "\\", "\n", "a\n}\nf () \n", "\t", "é", "*", "!"),
);
const bytes = (text: string) =>
  `$'${[...Buffer.from(text.replaceAll("\0", ""))].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}'`;
const FUNCTION_NAME = fc.constantFrom(
  "f",
  "g",
  "a-b",
  "a=b",
  "declare",
  "set",
  "trap",
  "alias",
  "umask",
  "ls",
  "f.g",
  "eval",
  "unset",
  "printf",
  "shopt",
  "[",
);
const BODY = fc.constantFrom(
  "{ echo hi; }",
  "( cd /; ls )",
  "{ cat <<X\nx $a\n}\ng () \nX\n}",
  "{ coproc cat; }",
  "{ local x=1; [[ $x =~ a+(b) ]]; }",
  '{ case $1 in a) :;; *) echo "$(echo x)";; esac; }',
  "for i in 1 2; do echo $i; done",
  "{ echo hi >&2; } 2>/dev/null",
  '{ x=$(cat <<< "a\nb"); }',
  "if true; then echo; fi",
  "{ while read -r l; do :; done < <(ls); }",
  "{ ((x++ > 3)) && a[1]=2; }",
);
const STATEMENT = fc.oneof(
  fc.tuple(NAME, VALUE).map(([name, value]) => `${name}=${bytes(value)}`),
  fc
    .tuple(fc.constantFrom("-x", "-i", "-l", "-u", "-t", "-r", "-xi"), fc.constantFrom("p", "q", "s"), VALUE)
    .map(([flags, name, value]) => `${name}=${bytes(value)}; declare ${flags} ${name}`),
  fc
    .tuple(fc.constantFrom("A1", "A2"), VALUE, VALUE)
    .map(([name, key, value]) => `declare -A ${name}; k=${bytes(`k${key}`)}; ${name}[$k]=${bytes(value)}`),
  fc
    .tuple(fc.constantFrom("l1", "l2"), fc.array(VALUE, { maxLength: 4 }))
    .map(([name, list]) => `${name}=(${list.map(bytes).join(" ")})`),
  fc.tuple(FUNCTION_NAME, BODY).map(([name, body]) => `function ${name} ${body}`),
  FUNCTION_NAME.map((name) => `export -f ${name}`),
  fc
    .tuple(fc.constantFrom("ll", "ls", "trap", "x.y", "set"), VALUE)
    .map(([name, value]) => `alias ${name}=${bytes(value)}`),
  fc
    .tuple(
      fc.constantFrom("USR1", "HUP", "ERR", "WINCH"),
      fc.constantFrom("echo x", "", "echo 'a\nb'", ': "$x"'),
    )
    .map(([signal, command]) => `trap -- ${bytes(command)} ${signal}`),
  fc
    .tuple(
      fc.constantFrom("-s", "-u"),
      fc.constantFrom("extglob", "nullglob", "dotglob", "globstar", "lastpipe", "nocasematch"),
    )
    .map((words) => `shopt ${words.join(" ")}`),
  fc
    .tuple(fc.constantFrom("-", "+"), fc.constantFrom("f", "B", "C", "h", "P", "E", "T"))
    .map((words) => `set ${words.join("")}`),
  fc.constantFrom(
    "umask 027",
    "umask 77",
    "declare -n ref=a",
    "declare -a none",
    "declare -x shown",
    "unset PS4",
    "hash -p /bin/true tru",
  ),
);

test(`${STATES} random states are restored without a silent difference`, async () => {
  const opened = openSession(shells);
  const wrong: string[] = [];
  for (const script of fc.sample(fc.array(STATEMENT, { minLength: 1, maxLength: 14 }), STATES)) {
    await opened.session.restart();
    for (const statement of script) await opened.run(statement);
    const before = (await opened.run(PRINT_STATE)).out;
    await killBash(opened);
    const { out: after, notes } = await opened.run(PRINT_STATE);
    const isNamed = notes.some((note) => note.startsWith("Not restored"));
    if (before !== after && !isNamed)
      wrong.push(
        `${script.join("\n")}\n--- before\n${diff(before, after)}\n--- after\n${diff(after, before)}\n${notes}`,
      );
    if (before === after && isNamed) wrong.push(`named, but the same: ${script.join("\n")}\n${notes}`);
  }
  expect(wrong.slice(0, 3)).toEqual([]);
}, 1_700_000);

function diff(some: string, others: string): string {
  const lines = new Set(others.split("\n"));
  return some
    .split("\n")
    .filter((line) => !lines.has(line))
    .join("\n");
}
