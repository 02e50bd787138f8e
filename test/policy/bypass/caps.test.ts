import { describe, expect, it } from "vitest";
import { judge } from "../../../src/policy/judge.ts";
import { isLong } from "../../fixtures/long.ts";
import { dev, verdictOf } from "../dev.ts";

const megabyte = (text: string) => text.repeat(Math.ceil(2 ** 20 / text.length));

/** Repeats a text until it exceeds the limits of one judgment: to 256 KiB, or 1 MiB with NACRE_LONG=1. */
const much = (text: string) => text.repeat(Math.ceil((isLong ? 2 ** 20 : 2 ** 18) / text.length));

/** An ordinary build script, repeated many times. */
const ordinaryLines = (i: number) => `# step ${i}: prepare the output directory
echo "building module ${i}"
mkdir -p build/mod${i}
cp -r src/mod${i}/. build/mod${i}/
if [ -f src/mod${i}/config.json ]; then
  export MOD_${i}_CONFIG="src/mod${i}/config.json"
fi
for f in build/mod${i}/*.ts; do
  npx tsc --outDir dist "$f" || exit 1
done
version=$(git describe --tags --always)
printf '%s\\n' "$version" > build/mod${i}/VERSION
rm -f build/mod${i}/*.tmp
tar -czf dist/mod${i}.tgz -C build mod${i}
`;

describe("hiding a command in a very long text", () => {
  it("judges the last of a thousand commands like the first", () => {
    expect(verdictOf(`${"true && ".repeat(1000)}rm -rf /`)).toBe("deny");
    expect(verdictOf(`${"true; ".repeat(1000)}rm -rf /`)).toBe("deny");
    expect(verdictOf(`${"true | ".repeat(100)}rm -rf /`)).toBe("deny");
  });

  it("judges a megabyte of plain lines to the end", () => {
    const script = megabyte("echo one ordinary line of a script\n");
    expect(verdictOf(script)).toBe("allow");
    expect(verdictOf("echo x\n".repeat(isLong ? 2 ** 16 : 2 ** 14))).toBe("allow");
    expect(verdictOf(`${script}rm -rf /`)).toBe("deny");
  });

  it("judges half a megabyte of an ordinary build script to the end", () => {
    let script = "";
    for (let i = 0; script.length < 2 ** 19; i++) script += ordinaryLines(i);
    // Skip this judgment unless NACRE_LONG=1: the judgment below covers the same script, with path lookups.
    if (isLong) expect(verdictOf(script)).toBe("allow");
    expect(verdictOf(`${script}rm -rf /`)).toBe("deny");
    // The policy looks up every path. The directories exist, and the files that the build creates do not.
    const links = {
      target: (path: string) => (/\/(proj|src|build|dist)$/.test(path) ? null : undefined),
      namesIn: () => [],
    };
    expect(verdictOf(script, { links })).toBe("allow");
  });

  const hostile: Record<string, string> = {
    "one-letter commands": much("a;"),
    "open parentheses": "(".repeat(2 ** 20),
    "open substitutions": much("$("),
    "open quoted substitutions": much('"$('),
    "open quotes": much(`"'`),
    braces: `rm -rf ${much("{a,b}")}`,
    "nested evals": `${"eval ".repeat(2 ** 17)}ls`,
    "nested wrappers": `${"sudo ".repeat(2 ** 17)}ls`,
    "branching assignments": Array.from({ length: 60_000 }, (_, i) => `x && v${i}=1`).join("\n"),
    "functions that call twice": `${Array.from({ length: 60 }, (_, i) => `f${i}(){ f${i + 1}; f${i + 1}; }`).join(";")};f0`,
    "nested loops": `${"for i in a b; do x=$i;".repeat(200)}ls;${"done;".repeat(200)}`,
    "doubling values": `a=xx;${"a=$a$a;".repeat(2_000)}rm -rf $a`,
    "long arrays": `a=(${much("x ")}); rm -rf "\${a[@]}"`,
    "thousands of roots": much("rm -rf /;"),
    "thousands of options": `curl ${much("-d@a ")}`,
    "a long word that a regular expression matches": `http ${much("a@/b.c")}/`,
    "thousands of variables": `export ${much("a=b ")}; rm -rf $a`,
    "thousands of functions": Array.from({ length: 80_000 }, (_, i) => `f${i}(){ :; }`).join("\n"),
    "protected paths for an unknown program": `frob ${much("/etc/a ")}`,
    "commands with protected paths": much("frob /a/b ~/c ./d --out=/e;"),
    "clones and builds": megabyte("git clone x; make;"),
    "written recipes": much("echo a>Makefile;make;"),
    "thousands of programs in an argument": much("python3 -c 'x=1';"),
    "thousands of calls in code": much('python3 -c \'open("/etc/x","w")\';'),
    "thousands of searches": much("find . -exec a {} +;"),
    "nested calls of os.system": `python3 -c '${much("os.system(")}'`,
  };
  it.each(Object.keys(hostile))("finishes judging hostile text and does not allow it: %s", (name) => {
    const verdict = judge(hostile[name] ?? "", dev);
    expect(verdict.verdict).not.toBe("allow");
    expect(verdict.findings.length).toBeLessThanOrEqual(400);
  });

  /** Returns up to 500 characters that double a value until it is long, then repeat one operation on it. */
  const repeated = (value: string, doublings: number, use: string) => {
    const head = `a=${value};${'a="$a$a";'.repeat(doublings)}`;
    return head + use.repeat(Math.floor((500 - head.length) / use.length));
  };
  const short: Record<string, string> = {
    "fields of a long value": repeated("'x y '", 15, "echo $a;"),
    "values of printf": repeated("'x y '", 15, "printf '%s' $a;"),
    "elements of an array": repeated("'x y '", 15, "b=($a $a);"),
    "items of xargs": repeated("'x y '", 15, "echo $a|xargs rm;"),
    "arguments of parallel": repeated("'x y '", 15, "parallel echo ::: $a;"),
    "names to unset": repeated("'x y '", 15, "unset $a;"),
    "files to write": repeated("'x y '", 15, ">$a;"),
    "roots of find": repeated("'x y '", 15, "find . $a;"),
    "open brackets in arithmetic": repeated("'[xxxxxxxxxxx'", 12, ": $((a));"),
    "lines to read": repeated("$'x\\ny z\\n'", 12, 'read -a b<<<"$a";'),
    "paths for an unknown program": repeated("'/etc/x '", 11, "frob $a;"),
    "options of an unknown program": repeated("'--x=/etc/x,/b '", 10, "frob $a;"),
    "a list of paths in one word": repeated("',/etc/x'", 11, "frob $a;"),
    "joined strings in code": repeated("'\"x\"+'", 11, 'python3 -c "$a";'),
    "calls in code": repeated("'open(1,2);'", 11, 'python3 -c "$a";'),
    "texts that code evaluates": repeated("'exec(\"xx\")'", 11, 'python3 -c "$a";'),
    "code for an unknown program": repeated("'x \"/etc\" ('", 11, 'frob "$a";'),
    "commands of awk": repeated("'print >\"/x\";'", 11, 'awk "$a" f;'),
    "lines of a written file": repeated("$'ls -l /x\\n'", 11, 'echo "$a">f;make;'),
    "scripts of a written package": repeated("'\"ls -l\",'", 11, 'echo "$a">f.json;npm i;'),
    "nested loops": `${"for i in a b;do x=$i;".repeat(18)}:;${"done;".repeat(18)}`,
  };
  it.each(Object.keys(short))("500 hostile characters use up the budget quickly: %s", (name) => {
    const text = short[name] ?? "";
    expect(text.length).toBeLessThanOrEqual(500);
    // One judgment usually takes less than 0.1 s. The limit only catches hangs.
    const before = process.cpuUsage();
    const verdict = judge(text, dev);
    const { user, system } = process.cpuUsage(before);
    expect(verdict.findings.map(({ rule }) => rule)).toContain("too-complex");
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it("asks about substitutions that are nested deeper than in any real script", () => {
    expect(verdictOf(`echo ${"$(echo ".repeat(150)}x${")".repeat(150)}`)).toBe("ask");
  });
});
