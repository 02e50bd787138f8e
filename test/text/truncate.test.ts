import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OUTPUT_MAX_CHARS } from "../../src/support/limits.ts";
import { measureText } from "../../src/text/decode.ts";
import { truncateEnds, truncateText } from "../../src/text/truncate.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

describe("a text over the limit", () => {
  test("keeps whole lines of the head and the tail, with one line between them that counts the omitted part", () => {
    const { text, truncated, omitted, total } = truncateText(lines(10_000), { outputFile: "/spool/out" });
    expect(truncated).toBe(true);
    expect(text.length).toBeLessThanOrEqual(OUTPUT_MAX_CHARS);
    expect(text.length).toBeGreaterThan(OUTPUT_MAX_CHARS - 50);
    expect(text.startsWith("line 1\nline 2\n")).toBe(true);
    expect(text.endsWith("line 9999\nline 10000\n")).toBe(true);
    const notice = text.split("\n").filter((line) => line.startsWith("["));
    expect(notice).toEqual([
      `[Output truncated at 30000 characters: ${omitted.characters} characters and ${omitted.lines} lines left out here, ` +
        "of 98894 characters and 10000 lines; the whole output is in /spool/out]",
    ]);
    expect(total).toEqual({ characters: 98_894, lines: 10_000 });
    const shown = text.split("\n").filter((line) => line.startsWith("line ")).length;
    expect(shown + omitted.lines).toBe(10_000);
  });

  test("with only one line is cut inside the line", () => {
    const { text, omitted } = truncateText("a".repeat(40_000));
    expect(text).toMatch(
      /^a+\n\[Output truncated at 30000 characters: \d+ characters and 0 lines left out .*\]\na+$/,
    );
    expect(text.match(/a{100,}/g)?.join("").length).toBe(40_000 - omitted.characters);
  });

  test("is truncated even if it exceeds the limit by only one character", () => {
    expect(truncateText("a".repeat(30_000))).toEqual({
      text: "a".repeat(30_000),
      truncated: false,
      omitted: { characters: 0, lines: 0 },
      total: { characters: 30_000, lines: 0 },
    });
    expect(truncateText("a".repeat(30_001)).truncated).toBe(true);
  });

  test("has a notice in the singular if only one line is omitted", () => {
    expect(truncateText(`${"a".repeat(500)}\n${"b".repeat(500)}`, { limitChars: 400 }).text).toContain(
      " and 1 line left out",
    );
  });

  test("has a shorter notice under a small limit, and no notice under a tiny limit", () => {
    const at = (limitChars: number): string =>
      truncateText("a".repeat(5_000), { limitChars, outputFile: "/spool/out" }).text;
    expect(at(400)).toContain("; the whole output is in /spool/out]");
    expect(at(240)).toMatch(/of 5000 characters and 0 lines\]/);
    expect(at(100)).toMatch(/^a+\n\[Output truncated at 100 characters\]\na+$/);
    expect(at(10)).toBe("a".repeat(10));
    expect(at(0)).toBe("");
  });
});

describe("the ends of a text whose middle was not read", () => {
  test("are shown with the size of the part between them", () => {
    const { text, omitted, total } = truncateEnds(
      { head: lines(3), middle: { characters: 2_000_000_000, lines: 7 }, tail: "the end\n" },
      { outputFile: "/spool/out" },
    );
    expect(omitted).toEqual({ characters: 2_000_000_000, lines: 7 });
    expect(total).toEqual({ characters: 2_000_000_029, lines: 11 });
    expect(text).toBe(
      `${lines(3)}[Output truncated at 30000 characters: 2000000000 characters and 7 lines left out here, ` +
        "of 2000000029 characters and 11 lines; the whole output is in /spool/out]\nthe end\n",
    );
  });

  test("are cut in the same way as a text that was read completely", () => {
    const whole = lines(20_000);
    const ends = { head: whole.slice(0, 40_000), tail: whole.slice(-40_000) };
    const middle = measureText(whole.slice(40_000, -40_000));
    expect(truncateEnds({ ...ends, middle })).toEqual(truncateText(whole));
  });

  test("are shown completely if nothing is between them", () => {
    expect(truncateEnds({ head: "a", middle: { characters: 0, lines: 0 }, tail: "b" }).text).toBe("ab");
  });
});

describe("a heading inside the text", () => {
  const cut = (before: number, after: number) => {
    const last = "b\n".repeat(after);
    const whole = `${"a\n".repeat(before)}[head]\n${last}`;
    const heading = { line: "[head]\n", charsFromEnd: last.length };
    return { whole, ...truncateText(whole, { limitChars: 600, heading }) };
  };

  test.each([
    [500, 500],
    [500, 120],
    [10, 1_000],
    [1_000, 10],
    ...Array.from({ length: 12 }, (_, i) => [500, 100 + i]),
  ])(
    "appears once, directly before the lines that follow it (%d lines before it, %d after it)",
    (before = 0, after = 0) => {
      const { whole, text, omitted } = cut(before, after);
      const shown = text.split("\n").filter((line) => !line.startsWith("[Output") && line !== "");
      expect(shown.join("")).toMatch(/^a+\[head\]b+$/);
      expect(text.length).toBeLessThanOrEqual(600);
      const notice = text.split("\n").find((line) => line.startsWith("[Output")) ?? "";
      expect(text.length - notice.length - 1 + omitted.characters).toBe(whole.length);
    },
  );

  test("is left out if there is no space for the notice", () => {
    const heading = { line: "[head]\n", charsFromEnd: 50 };
    expect(truncateText("a".repeat(100), { limitChars: 10, heading }).text).toBe("a".repeat(10));
  });
});

describe("for every text and limit", () => {
  const text = fc
    .array(
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.constantFrom("\n", "e\u0301", "👩‍👩‍👧", "\r\n", "x".repeat(50)),
      ),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join(""));
  const options = fc.record({
    limitChars: fc.nat({ max: 600 }),
    outputFile: fc.option(fc.constant("/spool/out"), { nil: undefined }),
  });
  const cut = (
    whole: string,
    { limitChars, outputFile }: { limitChars: number; outputFile: string | undefined },
  ) => truncateText(whole, outputFile === undefined ? { limitChars } : { limitChars, outputFile });

  test("the result never exceeds the limit and never splits a character", () => {
    fc.assert(
      fc.property(text, options, (whole, given) => {
        const { text: shown } = cut(whole, given);
        expect(shown.length).toBeLessThanOrEqual(given.limitChars);
        expect(shown).not.toMatch(/[\ud800-\udfff]/u);
      }),
      { numRuns: 1_000 },
    );
  });

  test("the shown part and the omitted part add up to the whole", () => {
    fc.assert(
      fc.property(text, options, (whole, given) => {
        const { text: shown, omitted, total, truncated } = cut(whole, given);
        expect(total).toEqual(measureText(whole));
        expect(truncated).toBe(whole.length > given.limitChars);
        if (!truncated) expect([shown, omitted]).toEqual([whole, { characters: 0, lines: 0 }]);
        const notice = /\[Output truncated at .*\]\n/.exec(shown);
        if (notice === null) return;
        const tail = shown.slice(notice.index + notice[0].length);
        const head = whole.slice(0, total.characters - omitted.characters - tail.length);
        expect(whole.endsWith(tail)).toBe(true);
        expect([head, `${head}\n`]).toContain(shown.slice(0, notice.index));
        expect(measureText(whole.slice(head.length, whole.length - tail.length))).toEqual(omitted);
      }),
      { numRuns: 1_000 },
    );
  });
});
