import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useFileTools } from "../fixtures/file-tools.ts";

const world = useFileTools();
const { kit, path, outside, work } = world;

const read = (file_path: string, more: { offset?: number; limit?: number } = {}) =>
  kit().call("Read", { file_path, ...more });

describe("Read", () => {
  test("prints each line as its number, a tab and the text", async () => {
    writeFileSync(path("a.txt"), "one\ntwo\n\nfour\n");
    const result = await read("a.txt");
    expect(result).toMatchObject({ success: true, output: "1\tone\n2\ttwo\n3\t\n4\tfour\n", notes: [] });
    expect(result.metadata).toMatchObject({
      file_path: path("a.txt"),
      first_line: 1,
      last_line: 4,
      total_lines: 4,
      size_bytes: 14,
      encoding: "utf-8",
      line_endings: "lf",
      truncated: false,
    });
  });

  test("starts at an offset and reports the offset at which to continue", async () => {
    writeFileSync(path("a.txt"), Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join(""));
    const result = await read("a.txt", { offset: 4, limit: 2 });
    expect(result.output).toBe("4\tline 4\n5\tline 5\n");
    expect(result.notes).toEqual(["5 more lines of 10: continue with offset 6."]);
    expect(await read("a.txt", { offset: 11 })).toMatchObject({ code: "invalid_input" });
  });

  test("resolves paths in the directory of the session", async () => {
    mkdirSync(path("sub"));
    writeFileSync(path("sub", "b.txt"), "b\n");
    await kit().call("Bash", { command: "cd sub" });
    expect((await read("b.txt")).output).toBe("1\tb\n");
  });

  test("truncates long lines and reports their numbers", async () => {
    writeFileSync(path("long.txt"), `${"x".repeat(5_000)}\nnext\n`);
    const result = await read("long.txt");
    expect(result.output).toContain("… [line 1 is cut: 3000 more characters]\n2\tnext\n");
    expect(result.metadata).toMatchObject({ truncated: true, total_lines: 2 });
    expect(result.notes.join()).toContain("Line 1 was cut");
  });

  test.each([
    ["UTF-8 with a byte order mark", Buffer.from("\ufeffä\n"), "utf-8-bom"],
    ["UTF-16 little endian", Buffer.from("\ufeffä\n", "utf16le"), "utf-16le"],
    ["UTF-16 big endian", Buffer.from("\ufeffä\n", "utf16le").swap16(), "utf-16be"],
  ])("decodes %s", async (_, bytes, encoding) => {
    writeFileSync(path("a.txt"), bytes);
    const result = await read("a.txt");
    expect(result.output).toBe("1\tä\n");
    expect(result.metadata).toMatchObject({ encoding });
  });

  test("reports CRLF line endings, a missing final newline, and an empty file", async () => {
    writeFileSync(path("crlf.txt"), "a\r\nb");
    expect(await read("crlf.txt")).toMatchObject({
      output: "1\ta\n2\tb\n",
      metadata: { line_endings: "crlf" },
      notes: ["The lines end with CRLF; Edit keeps that.", "The last line has no newline at its end."],
    });
    writeFileSync(path("empty.txt"), "");
    expect(await read("empty.txt")).toMatchObject({
      success: true,
      output: "",
      notes: ["The file is empty."],
    });
  });

  test("names the target of a link, and reports hard links", async () => {
    writeFileSync(path("a.txt"), "a\n");
    symlinkSync("a.txt", path("link"));
    expect((await read("link")).notes.join()).toContain(`leads to ${path("a.txt")}`);
    linkSync(path("a.txt"), path("b.txt"));
    expect((await read("b.txt")).notes.join()).toContain("hard link");
  });

  test("redacts secrets without moving lines, and reports the redaction", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const key = `-----BEGIN PRIVATE KEY-----\n${"QUJD\n".repeat(4)}-----END PRIVATE KEY-----`;
    writeFileSync(path("a.txt"), `first\nt=${token} end\n${key}\nlast\n`);
    const result = await read("a.txt");
    expect(result.output).not.toContain(token);
    expect(result.output).not.toContain("QUJD");
    expect(result.output).toContain("2\tt=[redacted:");
    expect(result.output).toContain("9\tlast\n");
    expect(result.metadata).toMatchObject({ redacted: 2 });
    expect(result.notes.join()).toContain("2 secrets were redacted");
    const part = await read("a.txt", { offset: 5, limit: 2 });
    expect(part.output).not.toContain("QUJD");
  });

  test("redacts a secret after a very long line", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    writeFileSync(path("a.txt"), `${"x ".repeat(200_000)}\n${token}\n`);
    expect((await read("a.txt")).output).not.toContain(token);
  });
});

describe("Read refuses", () => {
  test.each([
    [
      "an image",
      Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(100)]),
      /a PNG of 108 bytes/,
    ],
    ["a PDF", Buffer.from("%PDF-1.7\nonly text here\n"), /a PDF of 24 bytes/],
    ["binary data", Buffer.alloc(200, 1), /binary data of 200 bytes/],
    ["text with one NUL", Buffer.from("some text\nand\0more\n"), /binary data of 19 bytes/],
    [
      "text with a NUL far from its start",
      Buffer.from(`${"text\n".repeat(50_000)}\0\n`),
      /binary data of 250002 bytes/,
    ],
    ["UTF-16 with a NUL", Buffer.from("\ufeffa\0b\n", "utf16le"), /binary data of 10 bytes/],
    ["Latin-1", Buffer.from("caf\xe9 au lait\n", "latin1"), /is not UTF-8/],
  ])("%s, with its kind and size", async (_, bytes, words) => {
    writeFileSync(path("a.bin"), bytes);
    const result = await read("a.bin");
    expect([result.code, result.error]).toEqual(["invalid_input", expect.stringMatching(words)]);
  });

  test("a missing file, and suggests the most similar name", async () => {
    writeFileSync(path("config.json"), "{}");
    const result = await read("confg.json");
    expect(result).toMatchObject({ code: "invalid_input" });
    expect(result.error).toContain("Did you mean config.json?");
    expect((await read("no/such/file")).error).toContain("Neither the file nor its directory exists");
  });

  test("everything that is not a regular file, without waiting for it", async () => {
    mkdirSync(path("dir"));
    execFileSync("mkfifo", [path("fifo")]);
    expect((await read("dir")).error).toContain("is a directory");
    expect((await read("fifo")).error).toContain("is a fifo");
    expect((await read("/dev/zero")).error).toContain("is a device");
    expect((await read("/proc/self/status")).error).toContain("kernel");
    expect((await read("/sys/kernel/uevent_seqnum")).error).toContain("kernel");
  });

  test("a file that is too large", async () => {
    writeFileSync(path("large"), "");
    truncateSync(path("large"), 40 * 1024 ** 2);
    expect((await read("large")).error).toMatch(/has 41943040 bytes; the file tools handle at most 33554432/);
  });

  test("a path with a loop of links, with a file in place of a directory, or with a NUL", async () => {
    symlinkSync("loop", path("loop"));
    writeFileSync(path("file"), "");
    expect((await read("loop")).error).toContain("loop");
    expect((await read("file/x")).error).toContain("is a file, not a directory");
    expect((await read("a\0b")).error).toContain("NUL");
  });

  test("a file outside the allowed roots, even through a link", async () => {
    writeFileSync(join(outside(), "x"), "x\n");
    symlinkSync(join(outside(), "x"), path("link"));
    const limited = await world.open({ allowedRoots: [work()] });
    for (const file_path of [join(outside(), "x"), "../outside/x", "link"]) {
      const result = await limited.call("Read", { file_path });
      expect([result.code, result.error]).toEqual([
        "invalid_input",
        expect.stringContaining("outside the allowed directories"),
      ]);
    }
  });

  test("a file that the policy refuses, with the rule", async () => {
    const result = await read("~/.ssh/id_rsa");
    expect(result).toMatchObject({ code: "approval_pending", metadata: { rule: "read-secret" } });
  });
});

test("a dry run reads nothing", async () => {
  writeFileSync(path("a.txt"), "a\n");
  const result = await kit().call("Read", { file_path: "a.txt" }, { dryRun: true });
  expect(result).toMatchObject({ success: true, output: `[Dry Run] Would read: ${path("a.txt")}` });
  expect(await kit().call("Write", { file_path: "a.txt", content: "b" })).toMatchObject({
    code: "stale_file",
  });
});
