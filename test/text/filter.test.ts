import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NacreError } from "../../src/support/errors.ts";
import { filterLines } from "../../src/text/filter.ts";
import { compilePattern } from "../../src/text/pattern.ts";

const refusal = (source: string, name?: string): string => {
  try {
    compilePattern(source, name);
  } catch (thrown) {
    if (thrown instanceof NacreError && thrown.code === "invalid_input") return thrown.message;
    throw thrown;
  }
  throw new Error(`${source} was accepted`);
};

describe("filtering", () => {
  test("keeps exactly the matching lines, with their line ends, and counts the others", () => {
    const text = "ok 1\nERROR a\r\nok 2\n\nerror b\nERROR at the end";
    expect(filterLines(text, compilePattern("ERROR"))).toEqual({
      text: "ERROR a\r\nERROR at the end",
      kept: 2,
      skipped: 4,
    });
  });

  test("matches anchors at the start and end of a line that ends with LF or CRLF", () => {
    expect(filterLines("a\nab\r\nb\na\r\n", compilePattern("^a$")).text).toBe("a\na\r\n");
  });

  test("an empty line is a line, and an empty text has no lines", () => {
    expect(filterLines("\n\n", compilePattern("^$"))).toEqual({ text: "\n\n", kept: 2, skipped: 0 });
    expect(filterLines("", compilePattern(""))).toEqual({ text: "", kept: 0, skipped: 0 });
  });

  test("accepts the kinds of patterns that models usually write", () => {
    const matches = (source: string, line: string): boolean => compilePattern(source).matches(line);
    expect(matches("(?i)error|warn(ing)?", "WARNING: x")).toBe(true);
    expect(matches("listening on \\d+", "listening on 3000")).toBe(true);
    expect(matches("^.$", "😀")).toBe(true);
    expect(matches("\\bfail(ed|ure)\\b", "2 failed")).toBe(true);
  });

  test("returns the matching lines in order, for any text and pattern", () => {
    const line = fc
      .oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("a", "ab", "b1", ""))
      .filter((s) => !/[\r\n]/.test(s));
    const sources = fc.constantFrom("a", "^a", "b$", "^$", "[0-9]", "^[^a]*$", "");
    fc.assert(
      fc.property(fc.array(line), sources, fc.constantFrom("\n", "\r\n"), (all, source, end) => {
        const native = new RegExp(source, "u");
        const matching = all.filter((text) => native.test(text));
        const { text, kept, skipped } = filterLines(
          all.map((text) => text + end).join(""),
          compilePattern(source),
        );
        expect(text).toBe(matching.map((text) => text + end).join(""));
        expect([kept, skipped]).toEqual([matching.length, all.length - matching.length]);
      }),
    );
  });
});

describe("an invalid pattern", () => {
  test("is refused, and the message shows the position of the mistake", () => {
    expect(refusal("(unclosed")).toBe(
      "Invalid filter regex: missing closing ): `(unclosed` (at character 1). Patterns use RE2 syntax.",
    );
    expect(refusal("[z-a]", "wait_for")).toMatch(/^Invalid wait_for regex: .*`z-a`/);
  });

  test.each([
    ["listening (on [0-9]+", 11],
    ["(a(b)", 1],
    ["[(]a)b", 5],
    ["\\(a(b", 4],
    ["ab[c", 3],
    ["a**", 2],
    ["a(?=b)", 2],
    ["a\\", 2],
    ["(?P<n>a)(?P<n>b)", 13],
  ])("%s has its mistake at character %d", (source, at) => {
    expect(refusal(source)).toContain(`(at character ${at})`);
  });

  test.each([
    ["a(?=b)", "look-ahead"],
    ["a(?!b)", "look-ahead"],
    ["(?<=a)b", "look-behind"],
    ["(?<!a)b", "look-behind"],
    ["(a)\\1", "back-references"],
    ["(?<n>a)\\k<n>", "back-references"],
    ["(?>a)", "atomic groups"],
    ["a++", "possessive quantifiers"],
    ["a\\Z", "\\Z"],
    ["\\u0041", "\\u escapes"],
    ["\\h", "\\h"],
  ])("%s is refused, and the message says what RE2 lacks and what to use instead", (source, lack) => {
    expect(refusal(source)).toMatch(/^Invalid filter regex: .*RE2 syntax, which has no /);
    expect(refusal(source)).toContain(`which has no ${lack}: `);
  });

  test.each([
    ["too long", "a".repeat(4_001)],
    ["too large", "(?:a{1,30}){1,30}"],
    ["nested too deeply", "(".repeat(1_500) + ")".repeat(1_500)],
    ["repeated too often", "a{1001}"],
  ])("is refused if it is %s", (_, source) => {
    expect(refusal(source)).toMatch(/^Invalid filter regex: /);
  });
});

describe("hostile patterns match quickly", () => {
  const line = `${"a".repeat(50_000)}!`;
  test.each(["(a+)+$", "^(a|a)*$", "(a|aa)+$", "(.*)*x", "(a?){50}a{50}$"])(
    "%s over 50,000 characters",
    (source) => {
      const pattern = compilePattern(source);
      pattern.matches("warm up");
      // Use the fastest of five runs, because other processes slow down some of them.
      const times = Array.from({ length: 5 }, () => {
        const started = performance.now();
        expect(pattern.matches(line)).toBe(false);
        return performance.now() - started;
      });
      expect(Math.min(...times)).toBeLessThan(200);
    },
  );
});
