import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redact } from "../../src/environment/redact.ts";
import { filteredTextOf, textOf } from "../../src/execution/spool-text.ts";
import { SCAN_PIECE_BYTES, WHOLE_READ_MAX_BYTES } from "../../src/support/limits.ts";
import { measureText } from "../../src/text/decode.ts";
import { compilePattern } from "../../src/text/pattern.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const unchanged = (text: string) => text;

function spoolPart(content: string | Buffer) {
  const path = join(directory(), "out");
  writeFileSync(path, content);
  return { path, from: 0, to: Buffer.byteLength(content) };
}

describe("a part of a spool file", () => {
  test("is read completely if it is small, and only within its range", async () => {
    const part = { ...spoolPart("before|wanted|after"), from: 7, to: 13 };
    expect(await textOf(part, unchanged)).toEqual({
      head: "wanted",
      middle: { characters: 0, lines: 0 },
      tail: "",
    });
  });

  test("that is large is read only at its beginning and end; the characters between them are counted", async () => {
    for (const unit of ["line of text\n", "é😀 €\n", "x"]) {
      const whole = `.${unit.repeat(Math.ceil((3 * WHOLE_READ_MAX_BYTES) / Buffer.byteLength(unit)))}`;
      const { head, middle, tail } = await textOf(spoolPart(whole), unchanged);
      expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
      expect(middle).toEqual(measureText(whole.slice(head.length, whole.length - tail.length)));
      expect(middle.characters).toBeGreaterThan(0);
    }
  });

  test("is sanitized before it is returned", async () => {
    const sanitize = (text: string) => text.toUpperCase();
    expect((await textOf(spoolPart("loud"), sanitize)).head).toBe("LOUD");
    const large = await textOf(spoolPart("loud\n".repeat(200_000)), sanitize);
    expect([large.head.slice(0, 5), large.tail.slice(-5)]).toEqual(["LOUD\n", "LOUD\n"]);
  });

  test("that is binary is described, with its size", async () => {
    const part = spoolPart(Buffer.from("\x7fELF\0\0\0\0\0\0\0\x01\x02\x03\xff\xfe", "latin1"));
    const size = part.to;
    expect((await textOf(part, unchanged)).head).toBe(
      `[binary output: ${size} bytes, looks like ELF; the raw bytes are in ${part.path}]\n`,
    );
  });
});

describe("filtering a part", () => {
  test("keeps exactly the matching lines, even across the pieces of a scan", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} é😀`);
    const { ends, skipped } = await filteredTextOf(
      spoolPart(lines.join("\n")),
      unchanged,
      compilePattern("^line \\d*7 "),
    );
    const matching = lines.filter((line) => /^line \d*7 /.test(line));
    expect(ends.head + ends.tail).toBe(matching.map((line) => `${line}\n`).join(""));
    expect(ends.middle.characters).toBe(0);
    expect(skipped).toBe(lines.length - matching.length);
  });

  test("counts the characters beyond the limit exactly", async () => {
    const whole = "matching 😀 line\n".repeat(200_000);
    const { ends, skipped } = await filteredTextOf(spoolPart(whole), unchanged, compilePattern("match"));
    const { head, middle, tail } = ends;
    expect(skipped).toBe(0);
    expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
    expect(middle).toEqual(measureText(whole.slice(head.length, whole.length - tail.length)));
    expect(middle.characters).toBeGreaterThan(0);
  });

  test("shows no part of a private key that spans two pieces", async () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(100)}-----END PRIVATE KEY-----\n`;
    const before = "a line\n".repeat(Math.ceil((SCAN_PIECE_BYTES - key.length / 2) / 7));
    const { ends } = await filteredTextOf(
      spoolPart(`${before}${key}after\n`),
      redact,
      compilePattern("^[^a]"),
    );
    expect(ends.head + ends.tail).toBe("[redacted:private-key]\n");
  });

  test("keeps a last line without its newline, for any lines", async () => {
    const line = fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replace(/[\r\n]/g, ""));
    await fc.assert(
      fc.asyncProperty(fc.array(line), line, async (lines, last) => {
        const all = [...lines.map((text) => `${text}\n`), ...(last === "" ? [] : [last])];
        const { ends, skipped } = await filteredTextOf(
          spoolPart(all.join("")),
          unchanged,
          compilePattern("[a-m]"),
        );
        const matching = all.filter((text) => /[a-m]/.test(text));
        expect(ends.head + ends.tail).toBe(matching.join(""));
        expect(skipped).toBe(all.length - matching.length);
      }),
      { numRuns: 50 },
    );
  });
});
