import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, test } from "vitest";
import type { EditArguments } from "../../src/files/edit-tool.ts";
import { useFileTools } from "../fixtures/file-tools.ts";

const world = useFileTools();
const { kit, path } = world;

const read = (file_path: string) => kit().call("Read", { file_path });
const write = (file_path: string, content: string) => kit().call("Write", { file_path, content });
const edit = (file_path: string, args: Omit<EditArguments, "file_path">) =>
  kit().call("Edit", { file_path, ...args });
const replace = (file_path: string, old_string: string, new_string: string) =>
  edit(file_path, { old_string, new_string });
const textOf = (name: string) => readFileSync(path(name), "utf8");

/** Creates a file and reads it. */
async function given(name: string, content: string | Buffer): Promise<void> {
  writeFileSync(path(name), content);
  expect(await read(name)).toMatchObject({ success: true });
}

/** Runs a Python program with the path as its argument: Python has system calls that Node lacks. */
function attributes(program: string, name: string): string {
  return execFileSync("python3", ["-c", program, path(name)], { encoding: "utf8" });
}

const ACL = `
import os, struct, sys
def entry(tag, rights, id=0xffffffff): return struct.pack("<HHI", tag, rights, id)
acl = struct.pack("<I", 2) + entry(1, 6) + entry(2, 6, 1234) + entry(4, 4) + entry(16, 6) + entry(32, 0)
`;
const SET = `${ACL}
os.setxattr(sys.argv[1], "user.note", b"text")
os.setxattr(sys.argv[1], "system.posix_acl_access", acl)`;
const SET_DEFAULT = `${ACL}
os.setxattr(sys.argv[1], "system.posix_acl_default", acl)`;
const GET = `import os, sys
print([(n, os.getxattr(sys.argv[1], n)) for n in sorted(os.listxattr(sys.argv[1]), reverse=True)])`;

describe("Write", () => {
  test("creates a file and its directories", async () => {
    expect(await write("a/b/c.txt", "text\n")).toMatchObject({
      success: true,
      output: `Created ${path("a/b/c.txt")} (5 bytes).`,
      metadata: { file_path: path("a/b/c.txt"), created: true, size_bytes: 5 },
    });
    expect(textOf("a/b/c.txt")).toBe("text\n");
    expect(readdirSync(path("a/b"))).toEqual(["c.txt"]);
  });

  test("replaces only a file that the calling agent has read, and keeps the file's mode", async () => {
    writeFileSync(path("a.sh"), "old\n", { mode: 0o755 });
    chmodSync(path("a.sh"), 0o755);
    expect(await write("a.sh", "new\n")).toMatchObject({
      code: "stale_file",
      error: expect.stringContaining("Read it first"),
    });
    expect(textOf("a.sh")).toBe("old\n");
    await read("a.sh");
    expect(await write("a.sh", "new\n")).toMatchObject({ success: true, metadata: { created: false } });
    expect([textOf("a.sh"), statSync(path("a.sh")).mode & 0o777]).toEqual(["new\n", 0o755]);
    expect(await write("a.sh", "newer\n")).toMatchObject({ success: true });
  });

  test("refuses a file that only another agent has read", async () => {
    writeFileSync(path("a.txt"), "old\n");
    await kit().call("Read", { file_path: "a.txt" }, { agentId: "one" });
    const args = { file_path: "a.txt", content: "new\n" };
    expect(await kit().call("Write", args, { agentId: "two" })).toMatchObject({ code: "stale_file" });
    expect(await kit().call("Write", args, { agentId: "one" })).toMatchObject({ success: true });
  });

  test("creates the target of a dangling link, and names the target", async () => {
    symlinkSync("target.txt", path("link"));
    const result = await write("link", "text\n");
    expect(result.output).toContain(`${path("link")} -> ${path("target.txt")}`);
    expect([textOf("target.txt"), lstatSync(path("link")).isSymbolicLink()]).toEqual(["text\n", true]);
  });

  test("refuses a directory, a fifo, and a path below a file", async () => {
    mkdirSync(path("dir"));
    execFileSync("mkfifo", [path("fifo")]);
    writeFileSync(path("file"), "");
    expect((await write("dir", "")).error).toContain("is a directory");
    expect((await write("fifo", "")).error).toContain("is a fifo");
    expect((await write("file/x", "")).error).toContain("is a file, not a directory");
  });

  test("refuses a redaction mark, unless the file already has that line", async () => {
    const mark = "[redacted:github-token]";
    expect(await write("a.txt", `t=${mark}\n`)).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining(mark),
    });
    expect(existsSync(path("a.txt"))).toBe(false);
    await given("b.txt", `t=${mark}\nold\n`);
    expect(await write("b.txt", `t=${mark}\nnew\n`)).toMatchObject({ success: true });
    expect(await write("b.txt", `t=${mark}\nu=${mark}\n`)).toMatchObject({ code: "invalid_input" });
  });

  test("in a dry run changes nothing", async () => {
    const args = { file_path: "new/a.txt", content: "a" };
    expect(await kit().call("Write", args, { dryRun: true })).toMatchObject({
      success: true,
      output: `[Dry Run] Would create: ${path("new/a.txt")} (1 bytes)`,
    });
    expect(existsSync(path("new"))).toBe(false);
  });
});

describe("Edit", () => {
  test("replaces one exact match", async () => {
    await given("a.txt", "one\ntwo\nthree\n");
    expect(await replace("a.txt", "two", "2")).toMatchObject({
      success: true,
      output: `Edited ${path("a.txt")} (1 replacement, line 2).`,
      metadata: { replacements: 1, lines: [2] },
    });
    expect(textOf("a.txt")).toBe("one\n2\nthree\n");
    expect(await replace("a.txt", "three", "3")).toMatchObject({ success: true });
    expect(readdirSync(world.work())).toEqual(["a.txt"]);
  });

  test("applies several edits in order, all or none", async () => {
    await given("a.txt", "a b c\n");
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "b", new_string: "x", replace_all: true },
    ];
    expect(await edit("a.txt", { edits })).toMatchObject({ success: true, metadata: { replacements: 3 } });
    expect(textOf("a.txt")).toBe("x x c\n");
    const wrong = [...edits, { old_string: "missing", new_string: "" }];
    const result = await edit("a.txt", { edits: [{ old_string: "c", new_string: "d" }, ...wrong.slice(2)] });
    expect([result.code, result.error]).toEqual(["no_match", expect.stringContaining("Edit 2 of 2")]);
    expect(textOf("a.txt")).toBe("x x c\n");
  });

  test("names the lines of all matches if there are several, and the most similar lines if there is none", async () => {
    await given("a.ts", "const a = 1;\nfoo();\nconst b = 2;\nfoo();\n");
    expect(await replace("a.ts", "foo()", "bar()")).toMatchObject({
      code: "ambiguous_match",
      error: expect.stringContaining("occurs 2 times, at lines 2, 4."),
    });
    const missed = await replace("a.ts", "const  b = 2;", "");
    expect([missed.code, missed.error]).toEqual(["no_match", expect.stringContaining("3\tconst b = 2;")]);
    expect(textOf("a.ts")).toBe("const a = 1;\nfoo();\nconst b = 2;\nfoo();\n");
  });

  test("treats LF in its arguments as CRLF if the file has CRLF", async () => {
    await given("a.txt", "one\r\ntwo\r\nthree\r\n");
    expect(await replace("a.txt", "one\ntwo", "1\n2\n2a")).toMatchObject({ success: true });
    expect(textOf("a.txt")).toBe("1\r\n2\r\n2a\r\nthree\r\n");
    expect(await replace("a.txt", "three", "3\n4")).toMatchObject({ success: true });
    expect(textOf("a.txt")).toBe("1\r\n2\r\n2a\r\n3\r\n4\r\n");
  });

  test("ignores the line numbers of Read if every line has one", async () => {
    await given("a.txt", "one\ntwo\nthree\n");
    expect(await replace("a.txt", "1\tone\n2\ttwo", "1\tuno\n2\tdue")).toMatchObject({ success: true });
    expect(textOf("a.txt")).toBe("uno\ndue\nthree\n");
    expect(await replace("a.txt", "1\tuno\ndue", "x")).toMatchObject({ code: "no_match" });
  });

  test.each([
    ["equal strings", { old_string: "a", new_string: "a" }, "are equal"],
    ["an empty old_string", { old_string: "", new_string: "a" }, "old_string is empty"],
    ["only one string", { old_string: "a" }, "new_string is missing"],
    ["no edit", {}, "old_string is missing"],
    [
      "both forms",
      { old_string: "a", new_string: "b", edits: [{ old_string: "a", new_string: "b" }] },
      "not both",
    ],
    ["half of a surrogate pair", { old_string: "a", new_string: "\ud800" }, "surrogate"],
    ["a NUL", { old_string: "a", new_string: "\0" }, "a NUL character"],
    ["a redaction mark", { old_string: "a", new_string: "[redacted:API_KEY]" }, "redaction mark"],
  ])("refuses %s", async (_, args, words) => {
    await given("a.txt", "a\n");
    expect(await edit("a.txt", args)).toMatchObject({
      code: "invalid_input",
      error: expect.stringContaining(words),
    });
    expect(textOf("a.txt")).toBe("a\n");
  });

  test("may move a redaction mark that the file contains", async () => {
    await given("a.txt", "doc: [redacted:API_KEY]\n");
    const result = await replace("a.txt", "doc: [redacted:API_KEY]", "docs: [redacted:API_KEY]");
    expect(result).toMatchObject({ success: true });
  });

  test("fills an empty file", async () => {
    await given("a.txt", "");
    expect(await replace("a.txt", "", "text\n")).toMatchObject({ success: true });
    expect(textOf("a.txt")).toBe("text\n");
  });

  test("shows the changes since the Read, without secrets", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    await given("a.txt", "one\ntwo\n");
    writeFileSync(path("a.txt"), `one\n2 ${token}\n`);
    const result = await replace("a.txt", "one", "1");
    expect([result.code, result.error]).toEqual([
      "stale_file",
      expect.stringContaining("-2\ttwo\n+2\t2 [redacted:"),
    ]);
    expect(result.error).not.toContain(token);
    expect(textOf("a.txt")).toBe(`one\n2 ${token}\n`);
  });

  test("accepts a file that was touched but has the same bytes", async () => {
    await given("a.txt", "one\n");
    utimesSync(path("a.txt"), 1, 1);
    expect(await replace("a.txt", "one", "1")).toMatchObject({ success: true });
  });

  test("keeps a symbolic link, the mode of its target, and the other names of a hard link", async () => {
    mkdirSync(path("real"));
    writeFileSync(path("real/a.txt"), "one\n", { mode: 0o640 });
    symlinkSync("real/a.txt", path("link"));
    await read("link");
    const linked = await replace("link", "one", "two");
    expect(linked.notes.join()).toContain(`leads to ${path("real/a.txt")}`);
    expect([lstatSync(path("link")).isSymbolicLink(), statSync(path("link")).mode & 0o777]).toEqual([
      true,
      0o640,
    ]);
    linkSync(path("real/a.txt"), path("other.txt"));
    await read("other.txt");
    const result = await replace("other.txt", "two", "three and more");
    expect(result.notes.join()).toContain("hard link");
    expect(textOf("real/a.txt")).toBe("three and more\n");
    expect(statSync(path("other.txt")).nlink).toBe(2);
  });

  test("keeps extended attributes and the access control list", async () => {
    await given("a.txt", "one\n");
    chmodSync(path("a.txt"), 0o640);
    attributes(SET, "a.txt");
    const before = attributes(GET, "a.txt");
    const { notes } = await replace("a.txt", "one", "two");
    expect([notes, textOf("a.txt")]).toEqual([[], "two\n"]);
    expect(attributes(GET, "a.txt")).toEqual(before);
    expect(before).toMatch(/user\.note.*posix_acl_access/);
  });

  test("does not inherit an access control list from the directory", async () => {
    await given("a.txt", "one\n");
    attributes(SET_DEFAULT, ".");
    await replace("a.txt", "one", "two");
    expect(attributes(GET, "a.txt").trim()).toBe("[]");
  });

  test("refuses a missing file and a file that is too large", async () => {
    writeFileSync(path("main.ts"), "");
    const missing = await replace("mian.ts", "a", "b");
    expect(missing).toMatchObject({ code: "invalid_input", error: expect.stringContaining("main.ts?") });
    writeFileSync(path("large"), "");
    truncateSync(path("large"), 33 * 1024 ** 2);
    expect(await replace("large", "a", "b")).toMatchObject({ error: expect.stringContaining("at most") });
  });

  test("in a dry run reports the changes that it would make", async () => {
    await given("a.txt", "one\n");
    const args = { file_path: "a.txt", old_string: "one", new_string: "two" };
    const result = await kit().call("Edit", args, { dryRun: true });
    expect(result).toMatchObject({ success: true, metadata: { dry_run: true, replacements: 1 } });
    expect(textOf("a.txt")).toBe("one\n");
  });
});
