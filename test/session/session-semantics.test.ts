// A session gives any command text the same result as bash gives the text in a script file.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renumberLines } from "../../src/execution/bash-result.ts";
import { bytesOf, openSession } from "../fixtures/sessions.ts";
import { useShells } from "../fixtures/shells.ts";

const shells = useShells({ shareManager: true });

const CASES: readonly (readonly [title: string, command: string])[] = [
  ["a word", "echo hi"],
  ["leading blanks", "printf '  x'"],
  ["an empty line", "echo ''"],
  ["no output", "true"],
  ["leading newlines", "printf '\\n\\nx'"],
  ["trailing newlines", "printf 'x\\n\\n\\n'"],
  ["no trailing newline", "printf x"],
  ["NUL bytes", "printf 'a\\0b\\0'"],
  ["all bytes", 'for i in {0..255}; do printf "\\\\x$(printf %x "$i")"; done'],
  ["bytes that are not UTF-8", "printf '\\xff\\xfe\\xc3\\x28'"],
  ["escape sequences", "printf '\\e[31mred\\e[0m\\r\\n'"],
  ["both streams", "echo out; echo err >&2; echo out2"],
  ["only stderr", "echo oops >&2"],
  ["swapped streams", "{ echo a; echo b >&2; } 3>&1 1>&2 2>&3"],
  ["stderr into stdout", "{ echo a; echo b >&2; } 2>&1"],
  ["failure", "false"],
  ["the code of the last command", "true; (exit 7)"],
  ["the code of a pipeline", "false | true"],
  ["pipefail", "( set -o pipefail; false | true )"],
  ["PIPESTATUS", `false | true | (exit 3); echo \${PIPESTATUS[@]}`],
  ["negation", "! true"],
  ["and, or", "false || true && echo yes"],
  ["a command that does not exist", "nosuchcommand_x arg"],
  ["a file that is not executable", "touch plain; ./plain; echo $?"],
  ["a directory as a command", "/"],
  ["a syntax error", "echo )"],
  ["an error in line 3", "echo a\necho b\necho (\n"],
  ["an unterminated quote", 'echo "abc'],
  ["an unterminated single quote", "echo 'abc"],
  ["an unterminated group", "{ echo a;"],
  ["an unterminated if", "if true; then echo a"],
  ["an unterminated substitution", "echo $(echo a"],
  ["a stray fi", "fi"],
  ["only a comment", "# nothing"],
  ["comments and blank lines", "\n\n# one\n   # two\n\n"],
  ["a comment after a command", "echo a # b"],
  ["no trailing newline after a comment", "echo a\n# end"],
  ["a here-document", "cat <<EOF\na $((1 + 1))\nb\nEOF"],
  ["a quoted here-document", "cat <<'EOF'\n$a `b` \\c\nEOF"],
  ["a here-document with tabs", "cat <<-EOF\n\tx\n\tEOF"],
  ["two here-documents", "cat <<A; cat <<B\n1\nA\n2\nB"],
  ["an unterminated here-document", "cat <<EOF\na"],
  ["a here-string", 'cat <<<"x y"'],
  ["several lines", "a=1\nb=2\necho $((a + b))"],
  ["a continued line", "echo a \\\n  b"],
  ["a backslash at the end", "echo a \\"],
  ["stdin is empty", "cat; echo $?"],
  ["read at the end of input", "read x; echo $?"],
  ["stdin is not a terminal", "[ -t 0 ] || echo none"],
  ["umlauts", "echo 'äöü €  😀'"],
  ["umlauts in a variable", `x='ä😀'; echo \${#x} \${x:1}`],
  ["length under LC_ALL=C", `( LC_ALL=C; x='ä'; echo \${#x} )`],
  ["a loop with break", "for i in 1 2 3; do [ $i = 2 ] && break; echo $i; done"],
  ["break outside a loop", "break; echo $?"],
  ["continue outside a loop", "continue; echo $?"],
  ["return outside a function", "return 3; echo $?"],
  ["local outside a function", "local x=1; echo $?"],
  ["a function", "f() { local x=$1; echo $x; return 4; }; f a; echo $?"],
  ["recursion", "fac() { (($1 < 2)) && echo 1 || echo $(($1 * $(fac $(($1 - 1))))); }; fac 6"],
  ["arrays", `a=(1 '2 3' 4); echo \${#a[@]} \${a[1]} \${!a[@]}`],
  ["associative arrays", `declare -A m=([x]=1 [y]=2); echo \${m[x]}\${m[y]}`],
  ["globs", "touch g1 g2; echo g*; rm g1 g2"],
  ["braces", "echo {a,b}{1..3}"],
  ["tilde", "HOME=/nowhere; echo ~; unset HOME"],
  ["expansions", `v=abcabc; echo \${v//b/X} \${v%c*} \${v^^} \${v:1:2} \${w:-none}`],
  ["arithmetic", "echo $((2 ** 10 % 7)) $((16#ff))"],
  ["division by zero", "echo $((1 / 0)); echo after"],
  ["word splitting", 'IFS=:; x=a:b:c; printf "<%s>" $x; unset IFS'],
  ["quotes", `echo "a  b" 'c "d"' e\\ f $'g\\th'`],
  ["case", "case abc in a*) echo yes ;; *) echo no ;; esac"],
  ["select at the end of input", "select x in a b; do echo $x; done"],
  ["a subshell", "(cd /; pwd; exit 2); echo $?"],
  ["command substitution", "echo $(printf 'a\\n\\n\\n')."],
  ["process substitution", "cat <(echo a) <(echo b)"],
  [
    "a coprocess",
    `coproc cat; echo hi >&\${COPROC[1]}; read -r x <&\${COPROC[0]}; echo $x; kill $COPROC_PID`,
  ],
  ["wait -n", "(exit 6) & wait -n; echo $?"],
  ["background jobs and a bare wait", "sleep 0.01 & (exit 3) & wait; echo $?"],
  ["wait for one job", "(exit 5) & wait $!; echo $?"],
  ["jobs", "mkfifo gate; read -r <gate & jobs | grep -c Running; echo >gate; wait"],
  ["output to /dev/stderr and /dev/stdout", "echo a >/dev/stderr; echo b >/dev/stdout; echo c"],
  ["exec with descriptors", "exec 5>f5; echo x >&5; exec 5>&-; cat f5"],
  ["a closed stdout", "echo a >&-; echo $?"],
  ["a redirection that fails", "echo a >/nosuchdir/x; echo $?"],
  ["a trap on ERR", "trap 'echo err' ERR; false || true; trap - ERR"],
  ["a trap on RETURN", "f() { trap 'echo ret; trap - RETURN' RETURN; :; }; f"],
  ["a trap on a signal", "trap 'echo usr' USR1; kill -USR1 $$; trap - USR1"],
  ["death of a child by a signal", "bash -c 'kill -9 $$'; echo $?"],
  ["a segmentation fault of a child", "( ulimit -c 0; bash -c 'kill -SEGV $$' ); echo $?"],
  ["eval", "eval 'echo a; eval \"echo b\"'"],
  ["nested quotes in eval", 'x=\'echo "$((1+1))"\'; eval "$x"'],
  ["source", "echo 'echo sourced; return 3' >src; . ./src; echo $?"],
  ["set positional parameters", "set -- a b; echo $# $2; shift; echo $1; set --"],
  ["getopts", "while getopts ab: o -a -b x; do echo $o $OPTARG; done; OPTIND=1"],
  ["printf -v", "printf -v x %03d 7; echo $x"],
  ["mapfile", `mapfile -t a < <(printf '1\\n2\\n'); echo \${a[1]}`],
  ["a long line", `echo ${"x".repeat(5_000)} | wc -c`],
  ["much output", "seq 1 20000"],
  ["much output on both streams", "seq 1 5000; seq 1 5000 >&2"],
  ["a carriage return in the text", "echo a\r\necho b"],
  ["a tab in the text", "echo\ta"],
  ["SIGPIPE in a pipeline", `yes | head -1; echo \${PIPESTATUS[0]}`],
  ["the order within each stream", "for i in 1 2 3; do echo $i; echo e$i >&2; done"],
  ["a variable for one command", `X=1 bash -c 'echo $X'; echo \${X-unset}`],
  ["test", `[[ abc =~ ^a(.)c$ ]] && echo \${BASH_REMATCH[1]}`],
];

/** Runs the file with real pipes, as a shell does, instead of Node's sockets. */
function runFile(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): { code: number; out: string; err: string } {
  const script = `{ { bash "$1" </dev/null; echo $? >"$1.code"; } 2>&3 | cat >"$1.out"; } 3>&1 | cat >"$1.err"`;
  // Use --norc: Node makes stdin a socket, so bash would assume a remote login and read the user's .bashrc.
  spawnSync("bash", ["--norc", "-c", script, "bash", file], { cwd, env });
  const read = (name: string) => readFileSync(`${file}.${name}`, "latin1");
  return { code: Number(read("code")), out: read("out"), err: read("err") };
}

function withoutPids(text: string): string {
  return text.replace(/ \d+ (?=Killed|Segmentation)/g, " PID ");
}

test("the table of commands above has at least 60 cases", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(60);
});

test("a session gives the same result as bash with a script file", { timeout: 120_000 }, async () => {
  const { run, manager } = openSession(shells);
  const mismatches: unknown[] = [];
  const [dir, plainDir, file] = [shells.directory(), shells.directory(), join(shells.directory(), "script")];
  for (const [title, command] of CASES) {
    writeFileSync(file, command);
    const plain = runFile(file, plainDir, manager.environment.env);
    const ours = await run(command, { workingDir: dir });
    const expected = {
      title,
      code: plain.code,
      out: plain.out.replaceAll(plainDir, "DIR"),
      err: withoutPids(plain.err.replaceAll(`${file}: `, "bash: ")),
      // This case corrupts the memory of bash 5.2, so the session replaces it.
      restarted: title === "an unterminated substitution",
    };
    const err = renumberLines(bytesOf(ours.stderr).toString("latin1"), ours.firstLine);
    const got = {
      title,
      code: ours.exitCode,
      out: bytesOf(ours.stdout).toString("latin1"),
      err: withoutPids(err.replaceAll(": eval: line", ": line").replace(/^main: /gm, "bash: ")),
      restarted: ours.restarted,
    };
    got.out = got.out.replaceAll(dir, "DIR");
    if (JSON.stringify(got) !== JSON.stringify(expected)) mismatches.push({ expected, got });
  }
  expect(mismatches).toEqual([]);
});
