import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SNIP_KEEP_BYTES, SNIP_OVER_BYTES } from "../../src/support/limits.ts";
import { humanizeBytes, snipParts, snipText } from "../../src/text/snip.ts";

test.each([
  [0, "0B"],
  [512, "512B"],
  [1023, "1023B"],
  [1024, "1KB"],
  [1536, "1.5KB"],
  [131_072, "128KB"],
  [1_048_524, "1023.9KB"],
  [1_048_575, "1MB"],
  [1_258_291, "1.2MB"],
  [2 ** 31, "2GB"],
  [2 ** 40, "1TB"],
  [2 ** 51, "2048TB"],
])("%i bytes are shown as %s", (bytes, text) => {
  expect(humanizeBytes(bytes)).toBe(text);
});

describe("an output", () => {
  test("of 128 KiB stays unchanged, but with one byte more is truncated", () => {
    const whole = "a".repeat(SNIP_OVER_BYTES);
    expect(snipText(whole)).toEqual({ text: whole, truncated: false });
    expect(snipText(`${whole}b`)).toEqual({
      text: `[output truncated in middle: got 128KB, max is 128KB]\n${"a".repeat(4096)}\n\n[snip]\n\n${"a".repeat(4095)}b`,
      truncated: true,
    });
  });

  test("is measured in bytes, not characters", () => {
    expect(snipText("é".repeat(SNIP_OVER_BYTES / 2)).truncated).toBe(false);
    expect(snipText("é".repeat(SNIP_OVER_BYTES / 2 + 1)).truncated).toBe(true);
  });

  test("is cut between characters", () => {
    const { text } = snipText(`a${"😀".repeat(40_000)}z`);
    const [head, tail] = text.replace(/^.*\n/, "").split("\n\n[snip]\n\n");
    expect(head).toBe(`a${"😀".repeat(1023)}`);
    expect(tail).toBe(`${"😀".repeat(1023)}z`);
  });

  test("whose middle was not read is reported with its full size", () => {
    expect(snipParts({ head: "start", tail: "end", totalBytes: 1_258_291 })).toBe(
      "[output truncated in middle: got 1.2MB, max is 128KB]\nstart\n\n[snip]\n\nend",
    );
  });

  test("never keeps more than the limit, and keeps only whole characters", () => {
    const end = fc.array(fc.constantFrom("a", "é", "€", "😀", "\n"), { minLength: 1_000, maxLength: 6_000 });
    fc.assert(
      fc.property(end, end, (head, tail) => {
        const parts = { head: head.join(""), tail: tail.join(""), totalBytes: 10_000_000 };
        const [shownHead = "", shownTail = ""] = snipParts(parts)
          .replace(/^.*\n/, "")
          .split("\n\n[snip]\n\n");
        expect(parts.head.startsWith(shownHead)).toBe(true);
        expect(parts.tail.endsWith(shownTail)).toBe(true);
        for (const [shown, full] of [
          [shownHead, parts.head],
          [shownTail, parts.tail],
        ] as const) {
          const bytes = Buffer.byteLength(shown);
          expect(bytes).toBeLessThanOrEqual(SNIP_KEEP_BYTES);
          expect(bytes).toBeGreaterThan(Math.min(SNIP_KEEP_BYTES, Buffer.byteLength(full)) - 4);
        }
      }),
      { numRuns: 50 },
    );
  });
});
