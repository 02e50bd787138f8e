import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { extendedPattern } from "../../src/files/extended-pattern.ts";
import { globPattern } from "../../src/files/glob-pattern.ts";
import type { GlobArguments } from "../../src/files/glob-tool.ts";
import type { GrepArguments } from "../../src/files/grep-tool.ts";
import type { Toolkit } from "../../src/toolkit.ts";
import { useFileTools } from "../fixtures/file-tools.ts";

const world = useFileTools();
const { path } = world;

function put(name: string, content: string): void {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), content);
}

beforeEach(() => {
  put("src/a.ts", "const foo = 1;\nlet bar = foo;\n");
  put("src/deep/b.ts", "// Foo\nfoo();\n");
  put("src/c.js", "foo\n");
  put("README.md", "about foo\n");
  put(".hidden/d.ts", "foo\n");
  put("ignored/e.ts", "foo\n");
  put("debug.log", "foo\n");
  put(".gitignore", "ignored/\n*.log\n");
  put(".git/config", "foo\n");
});

/** A toolkit whose commands do not find ripgrep. */
async function kitWithoutRipgrep(): Promise<Toolkit> {
  const bin = join(world.outside(), "bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["git", "grep", "find", "head", "cat", "bash"]) {
    symlinkSync(`/usr/bin/${name}`, join(bin, name));
  }
  return await world.open({ environment: { set: { PATH: bin } } });
}

describe.each(["rg", "grep"])("with %s", (program) => {
  let kit: Toolkit;
  beforeEach(async () => {
    kit = program === "rg" ? world.kit() : await kitWithoutRipgrep();
    if (program === "grep") await kit.run("git init -q .", { cwd: world.work() });
  });
  const glob = (args: GlobArguments) => kit.call("Glob", args);
  const grep = (args: GrepArguments) => kit.call("Grep", args);

  test("Glob lists the files that match a pattern, sorted and without ignored files", async () => {
    expect(await glob({ pattern: "**/*.ts" })).toMatchObject({
      success: true,
      output: ".hidden/d.ts\nsrc/a.ts\nsrc/deep/b.ts\n",
      metadata: { files: 3, total_files: 3, truncated: false, program },
    });
    expect((await glob({ pattern: "*.ts" })).output).toBe(".hidden/d.ts\nsrc/a.ts\nsrc/deep/b.ts\n");
    expect((await glob({ pattern: "src/*.ts" })).output).toBe("src/a.ts\n");
    expect((await glob({ pattern: "*.{js,md}" })).output).toBe("README.md\nsrc/c.js\n");
    expect((await glob({ pattern: "*.log" })).output).toBe("No file matches *.log.");
    expect((await glob({ pattern: "**/*.ts", path: "src/deep" })).output).toBe("src/deep/b.ts\n");
    expect((await glob({ pattern: "nothing/**/x" })).output).toBe("No file matches nothing/**/x.");
  });

  test("Grep prints files, lines with their context, or counts", async () => {
    const all = await grep({ pattern: "foo" });
    expect(all.output).toBe(".hidden/d.ts\nREADME.md\nsrc/a.ts\nsrc/c.js\nsrc/deep/b.ts\n");
    expect(all.metadata).toMatchObject({ files: 5, matches: 5, left_out: 0, program });
    const lines = await grep({ pattern: "foo", path: "src", output_mode: "content" });
    expect(lines.output).toBe(
      "src/a.ts:1:const foo = 1;\nsrc/a.ts:2:let bar = foo;\nsrc/c.js:1:foo\nsrc/deep/b.ts:2:foo();\n",
    );
    expect(lines.metadata).toMatchObject({ matches: 4, files: 3 });
    const counts = await grep({ pattern: "foo", path: "src", output_mode: "count", ignore_case: true });
    expect(counts.output).toBe("src/a.ts:2\nsrc/c.js:1\nsrc/deep/b.ts:2\n");
    expect((await grep({ pattern: "nowhere" })).output).toBe("No matches found.");
  });

  test("Grep searches only files that match a glob, stops at a limit and counts the rest", async () => {
    const some = await grep({ pattern: "foo", glob: "*.ts" });
    expect(some.output).toBe(".hidden/d.ts\nsrc/a.ts\nsrc/deep/b.ts\n");
    expect((await grep({ pattern: "foo", glob: "src/**/*.ts" })).output).toBe("src/a.ts\nsrc/deep/b.ts\n");
    expect((await grep({ pattern: "foo", glob: "*.log" })).output).toBe("No matches found.");
    const first = await grep({ pattern: "foo", head_limit: 2 });
    expect(first.output).toBe(".hidden/d.ts\nREADME.md\n");
    expect(first.metadata).toMatchObject({ left_out: 3, truncated: true });
    expect(first.notes).toEqual([expect.stringMatching(/^3 more files/)]);
  });

  test("Grep searches one file, and passes the pattern on unchanged", async () => {
    put("odd.txt", "a-b\n--x $HOME 'q'\n\\d 7\n");
    expect((await grep({ pattern: "--x \\$HOME 'q'", path: "odd.txt", output_mode: "content" })).output).toBe(
      "odd.txt:2:--x $HOME 'q'\n",
    );
    expect((await grep({ pattern: "\\d", path: "odd.txt", output_mode: "content" })).output).toBe(
      "odd.txt:3:\\d 7\n",
    );
  });

  test("a file name with a newline is printed completely", async () => {
    put("src/a.ts\nb", "foo\nbar\n");
    put("--\nsrc/c.js", "foo\n");
    put("-\n", "foo\n");
    const names = ["$'-\\x0a'", "$'--\\x0asrc/c.js'", "$'src/a.ts\\x0ab'"] as const;
    const own = { pattern: "foo", glob: "{-*,--*/**,src/a.ts?b}" };
    expect((await grep(own)).output).toBe(names.map((name) => `${name}\n`).join(""));
    const lines = names.map((name) => `${name}:1:foo`);
    expect((await grep({ ...own, output_mode: "content" })).output).toBe(`${lines.join("\n")}\n`);
    expect((await grep({ ...own, output_mode: "content", context: 1 })).output).toBe(
      `${lines[0]}\n${lines[1]}\n--\n${lines[2]}\n${names[2]}-2-bar\n`,
    );
    expect((await grep({ ...own, output_mode: "count" })).output).toBe(
      names.map((name) => `${name}:1\n`).join(""),
    );
    expect((await glob({ pattern: "src/a.ts?b" })).output).toBe(`${names[2]}\n`);
  });

  test("context lines have a dash, and groups have a separator", async () => {
    put("x.txt", "1\n2\nhit\n4\n5\n6\n7\nhit\n9\n");
    for (const path of ["x.txt", "."]) {
      const found = await grep({ pattern: "hit", path, output_mode: "content", context: 1 });
      expect(found.output).toBe("x.txt-2-2\nx.txt:3:hit\nx.txt-4-4\n--\nx.txt-7-7\nx.txt:8:hit\nx.txt-9-9\n");
      expect(found.metadata).toMatchObject({ matches: 2, files: 1 });
    }
  });

  test("a pattern that leaves the directory is refused", async () => {
    for (const pattern of ["../*", "src/../*", "**/..", "{..,src}/*"]) {
      const refused = { code: "invalid_input", error: expect.stringContaining("give the directory as path") };
      expect(await glob({ pattern })).toMatchObject(refused);
      expect(await grep({ pattern: "foo", glob: pattern })).toMatchObject(refused);
    }
    expect((await glob({ pattern: "./src//.//*.ts" })).output).toBe("src/a.ts\n");
  });

  test("an invalid regular expression is refused with the reason", async () => {
    const result = await grep({ pattern: "(" });
    expect([result.code, result.error?.length]).toEqual(["invalid_input", expect.any(Number)]);
    expect(await grep({ pattern: "(a)\\1" })).toMatchObject({ code: "invalid_input" });
  });

  test("options that only ripgrep has are refused if ripgrep is not installed", async () => {
    for (const more of [{ multiline: true }, { type: "js" }]) {
      const { error = "" } = await grep({ pattern: "x", ...more });
      expect(error.includes("needs ripgrep")).toBe(program === "grep");
    }
  });

  test("the error for a missing path suggests the most similar path", async () => {
    expect(await grep({ pattern: "x", path: "scr" })).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining("Did you mean src?"),
    });
    expect(await glob({ pattern: "*", path: "nowhere" })).toMatchObject({ code: "invalid_input" });
  });
});

describe("a search", () => {
  test("follows no link out of its directory", async () => {
    writeFileSync(join(world.outside(), "secret.ts"), "foo\n");
    symlinkSync(join(world.outside(), "secret.ts"), path("src/link.ts"));
    symlinkSync(world.outside(), path("src/dir"));
    const kit = world.kit();
    expect((await kit.call("Glob", { pattern: "**/*.ts" })).output).not.toContain("secret");
    expect((await kit.call("Grep", { pattern: "foo" })).output).not.toMatch(/link|secret/);
  });

  test("redacts secrets in lines, and reports the redaction", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    put("t.txt", `token=${token}\n`);
    const result = await world.kit().call("Grep", { pattern: "token", output_mode: "content" });
    expect(result.output).toContain("t.txt:1:token=[redacted:");
    expect([result.metadata, result.notes]).toMatchObject([{ redacted: 1 }, ["1 secret was redacted."]]);
  });

  test("reports that a file is binary if the call names it", async () => {
    put("data.bin", "foo\0bar\n");
    const args = { pattern: "foo", path: "data.bin", output_mode: "content" } as const;
    expect(await world.kit().call("Grep", args)).toMatchObject({
      output: "No matches found.",
      notes: ["The file is binary: it matches, but its lines are not shown."],
    });
  });

  test("omits a file that turns out to be binary, and names the next file correctly", async () => {
    put("m/a.bin", `foo\n${"x\n".repeat(100_000)}\0\n`);
    put("m/b.txt", "foo\n");
    const found = await world.kit().call("Grep", { pattern: "foo", path: "m", output_mode: "content" });
    expect(found.output.split("\n")).toContain("m/b.txt:1:foo");
    expect(found.output).not.toContain("binary");
  });

  test("matches over several lines, selects files by type, and truncates a long line", async () => {
    const kit = world.kit();
    const multi = await kit.call("Grep", {
      pattern: "foo = 1;\\nlet",
      multiline: true,
      output_mode: "content",
    });
    expect(multi.output).toContain("src/a.ts:1:const foo = 1;");
    expect((await kit.call("Grep", { pattern: "foo", type: "js" })).output).toBe("src/c.js\n");
    put("long.txt", `${"y".repeat(3_000)}\n`);
    const cut = await kit.call("Grep", { pattern: "yy", output_mode: "content" });
    expect(cut.output.length).toBeLessThan(600);
  });

  test("reports files that it may not read", async () => {
    put("closed.txt", "foo\n");
    chmodSync(path("closed.txt"), 0);
    const result = await world.kit().call("Grep", { pattern: "foo" });
    expect(result).toMatchObject({ success: true });
    if (process.getuid?.() !== 0) expect(result.notes.join()).toContain("not searched");
  });

  test("is admitted like the command that it runs, and runs nothing in a dry run", async () => {
    const kit = world.kit();
    expect(await kit.call("Grep", { pattern: "x", path: "~" }, { dryRun: true })).toMatchObject({
      success: true,
      output: expect.stringMatching(/^\[Dry Run\] Would execute: exec rg /),
    });
    const started: string[] = [];
    kit.on("start", ({ command }) => started.push(command));
    await kit.call("Glob", { pattern: "*" });
    expect(started).toEqual([expect.stringMatching(/^exec rg --files /)]);
    expect(kit.shells.list()).toEqual([]);
  });
});

describe("a glob pattern", () => {
  test.each([
    ["*.ts", ["a.ts", "x/y/a.ts"], ["a.tsx", "a.ts/b"]],
    ["src/**", ["src/a", "src/a/b"], ["src", "lib/src/a"]],
    ["**/test/*.js", ["test/a.js", "x/y/test/a.js"], ["test/x/a.js"]],
    ["a?c.[ch]", ["abc.c", "d/axc.h"], ["ac.c", "a/c.c", "abc.x"]],
    ["[!a]*", ["b", "x/b"], ["a"]],
    ["{a,b/**}/x", ["a/x", "b/c/x", "b/x/x"], ["c/x"]],
    ["a+(b).$", ["a+(b).$"], ["aab.$"]],
    ["a\\*b", ["a*b"], ["axb"]],
  ])("%s matches whole paths", (source, matching, others) => {
    const { matches } = globPattern(source, "pattern");
    expect(matching.filter((one) => !matches(one))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  test("takes linear time and is refused if it is invalid", () => {
    const { matches } = globPattern(`${"*a".repeat(40)}b`, "pattern");
    expect(matches("a".repeat(2_000))).toBe(false);
    for (const source of ["", "{a", "!x", "x".repeat(2_000)]) {
      expect(() => globPattern(source, "pattern")).toThrow(/Invalid pattern/);
    }
  });
});

test.each([
  ["\\d+\\.\\d*?", "[0-9]+\\.[0-9]*"],
  ["(?:a|b)\\s", "(a|b)\\s"],
  ["[\\w.\\-\\]]+", "[][:alnum:]_.-]+"],
  ["(?i)abc", "abc"],
])("for grep, %s becomes %s", (given, expected) => {
  expect(extendedPattern(given).source).toBe(expected);
});

test.each(["\\p{L}", "(?i:a)", "\\x41"])("for grep, %s is refused", (pattern) => {
  expect(() => extendedPattern(pattern)).toThrow(/cannot search for/);
});
