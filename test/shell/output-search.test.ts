import { appendFileSync, closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ShellProcess } from "../../src/shell/shell-process.ts";
import { useShells } from "../fixtures/shells.ts";

const { manager, run } = useShells();

/** An ended shell with this output. */
async function printed(stdout: string | Buffer, stderr = ""): Promise<ShellProcess> {
  const shell = await run(manager(), "true");
  writeFileSync(shell.outputFiles.stdout, stdout);
  writeFileSync(shell.outputFiles.stderr, stderr);
  return shell;
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

describe("a search", () => {
  test("finds the lines of both streams with their numbers, and moves no cursor", async () => {
    const shell = await run(manager(), "printf 'a\\nerror: 1\\nb\\n'; printf 'x\\nerror: 2' >&2");
    const found = await shell.search("error: \\d");
    expect(found.lines.map(({ stream, line, text }) => `${stream}:${line}: ${text}`)).toEqual([
      "stdout:2: error: 1",
      "stderr:2: error: 2",
    ]);
    expect(found).toMatchObject({ matches: 2, searchedLines: 5, lastLine: 3, isComplete: true });
    expect(shell.getNewOutput()).toContain("error: 1");
  });

  test("finds the same lines for text and for a pattern, at every position of a block", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${i % 977 === 0 ? "needle" : "hay"} ${i}`);
    const shell = await printed(`${lines.join("\n")}\n`);
    const expected = lines.flatMap((line, i) => (line.startsWith("needle") ? [i + 1] : []));
    for (const pattern of ["needle", "need.e", "^needle \\d+$", /NEEDLE/i]) {
      const found = await shell.search(pattern);
      expect(found.lines.map(({ line }) => line)).toEqual(expected);
      expect(found).toMatchObject({ matches: expected.length, searchedLines: 60_000, lastLine: 60_000 });
    }
  });

  test("shows the lines around a match, and each line only once", async () => {
    const shell = await printed(numbered(20));
    const found = await shell.search("line (5|7|15)$", { contextLines: 2 });
    expect(found.lines.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 16, 17]);
    expect(found.lines.filter(({ isMatch }) => isMatch)).toHaveLength(3);
  });

  test("searches the visible text: no colors, only the last state of a redrawn line, no CR of a CRLF", async () => {
    const shell = await printed("\x1b[31mer\x1b[1mror\x1b[0m: red\n10%\r100% done\nwindows line\r\n");
    expect((await shell.search("error: red")).lines[0]?.text).toBe("error: red");
    expect((await shell.search("^100% done$")).lines[0]?.line).toBe(2);
    expect((await shell.search("10%")).matches).toBe(0);
    expect((await shell.search("line$")).lines[0]?.text).toBe("windows line");
  });

  test("finds the ends of CRLF lines", async () => {
    const shell = await printed(`${"windows line\r\n".repeat(3)}last\r\n`);
    expect((await shell.search("line$")).matches).toBe(3);
    expect((await shell.search("^last$")).lines.map(({ text }) => text)).toEqual(["last"]);
  });

  test("finds the same lines with and without colors", async () => {
    const reset = ["\x1b[0m", "\x1b[m\x1b[K", "\x1b(B\x1b[m", "\x1b[39;49m"];
    const words = ["error", "warning", "ünïcode", "漢字", "take 5"];
    const lines = Array.from({ length: 20_000 }, (_, i) => `${i} ${words[i % 7] ?? "fine"} after ${i % 11}s`);
    const colored = lines.map((line, i) =>
      [...line]
        .map((char, at) => ((at + i) % 9 === 0 ? `\x1b[3${i % 8}m${char}${reset[i % 4]}` : char))
        .join(""),
    );
    for (const end of ["\n", "\r\n"]) {
      const shell = await printed(colored.join(end) + end);
      for (const pattern of [
        "error after 3s",
        "nowhere at all",
        "(?i)ERROR|漢字 after 1s$",
        "^\\d+ ünï.*0s$",
      ]) {
        const test = new RegExp(pattern.replace("(?i)", ""), pattern.startsWith("(?i)") ? "iu" : "u");
        const expected = lines.flatMap((line, i) => (test.test(line) ? [i + 1] : []));
        const found = await shell.search(pattern);
        expect([pattern, found.matches, found.searchedLines]).toEqual([pattern, expected.length, 20_000]);
        expect(found.lines.map(({ line }) => line)).toEqual(expected.slice(0, found.lines.length));
        expect(found.lines.every(({ line, text }) => text === lines[line - 1])).toBe(true);
      }
    }
  });

  test("starts at a line, or covers the last lines, of each stream", async () => {
    const shell = await printed(numbered(100), numbered(30));
    const from = await shell.search("line", { fromLine: 29 });
    expect(from).toMatchObject({ matches: 72 + 2, searchedLines: 74 });
    const tail = await shell.search("line", { tailLines: 3 });
    expect(tail.lines.map(({ stream, line }) => `${stream} ${line}`)).toEqual([
      ...["stdout 98", "stdout 99", "stdout 100", "stderr 28", "stderr 29", "stderr 30"],
    ]);
    expect((await shell.search("line", { stream: "stderr" })).matches).toBe(30);
  });

  test("pages through lines without a pattern", async () => {
    const shell = await printed(numbered(100));
    const page = await shell.search(undefined, { fromLine: 41, maxLines: 2 });
    expect(page.lines.map(({ text }) => text)).toEqual(["line 41", "line 42"]);
    expect(page).toMatchObject({ lastLine: 100, next: { stream: "stdout", line: 43 } });
  });

  test("stays within its limit and reports the line at which to continue", async () => {
    const shell = await printed(numbered(50_000));
    const found = await shell.search("line", { maxChars: 1_000 });
    const size = found.lines.reduce((sum, { text, line }) => sum + `stdout:${line}: ${text}\n`.length, 0);
    expect(size).toBeLessThanOrEqual(1_000);
    expect(found).toMatchObject({
      matches: 50_000,
      next: { stream: "stdout", line: found.lines.length + 1 },
    });
  });

  test("shows the part around the match in a line of many megabytes", async () => {
    const shell = await printed("first\n");
    const fd = openSync(shell.outputFiles.stdout, "a");
    for (let i = 0; i < 8; i++) writeSync(fd, Buffer.alloc(1024 * 1024, "x"));
    writeSync(fd, " the needle is here ");
    for (let i = 0; i < 2; i++) writeSync(fd, Buffer.alloc(1024 * 1024, "y"));
    closeSync(fd);
    appendFileSync(shell.outputFiles.stdout, "\nlast\n");
    for (const pattern of ["needle", "n[e]+dle is", "y$"]) {
      const found = await shell.search(pattern);
      expect(found).toMatchObject({ matches: 1, lastLine: 3 });
      expect(found.lines[0]).toMatchObject({ line: 2 });
      expect(found.lines[0]?.text.length).toBeLessThan(1_100);
    }
    expect((await shell.search("needle")).lines[0]?.text).toContain("xxx the needle is here yyy");
    expect((await shell.search("^y")).matches).toBe(0);
  });

  test("reports how much it has searched when it times out", async () => {
    const shell = await printed(numbered(1_000));
    const found = await shell.search("line", { timeoutMs: 0.000_001 });
    expect(found).toMatchObject({ isComplete: false, searchedLines: 0, lastLine: 0 });
  });
});

describe("a search that fails", () => {
  test("names the position of a mistake in its pattern", async () => {
    const shell = await printed("x\n");
    await expect(shell.search("abc(def")).rejects.toThrow(/Invalid search regex: .*at character 4/);
    await expect(shell.search("ab**")).rejects.toThrow(/at character 3/);
    await expect(shell.search("a[b-")).rejects.toThrow(/at character 2/);
  });

  test("names the last line if it starts past the end", async () => {
    const shell = await printed(numbered(12), numbered(3));
    await expect(shell.search("x", { fromLine: 13 })).rejects.toMatchObject({
      code: "invalid_input",
      message: "from_line 13 is past the end: the last line of stdout is 12, the last line of stderr is 3.",
    });
  });

  test("reports a shell whose files were removed as swept, not as empty", async () => {
    const shell = await printed("x\n");
    rmSync(shell.started.files.dir, { recursive: true });
    await expect(shell.search("x")).rejects.toMatchObject({ code: "swept" });
  });

  test("ends at once when it is aborted", async () => {
    const shell = await printed("x\n");
    const controller = new AbortController();
    const search = shell.search("x", { signal: controller.signal });
    controller.abort();
    await expect(search).rejects.toMatchObject({ code: "aborted" });
  });
});
