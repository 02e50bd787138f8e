import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/text/terminal.ts";

test.each([
  ["colors", "\x1b[1;31merror\x1b[0m: x", "error: x"],
  ["24-bit colors with colons", "\x1b[38:2::255:0:0mx\x1b[m", "x"],
  ["private modes", "\x1b[?25l\x1b[?1049hx\x1b[?25h", "x"],
  ["a title", "\x1b]0;title\x07x", "x"],
  ["a link", "\x1b]8;;https://example.com\x1b\\here\x1b]8;;\x1b\\", "here"],
  ["a device control string", "\x1bP1$r0m\x1b\\x", "x"],
  ["an application command", "\x1b_Gf=100;AAAA\x1b\\x", "x"],
  ["character sets", "\x1b(B\x1b)0x", "x"],
  ["two-character sequences", "\x1b7\x1b8\x1bM\x1b=x", "x"],
  ["C1 controls", "\x9b31mx\x9b0m\x9d0;t\x9cy\x85", "xy"],
  ["bells and shifts", "\x07x\x0e\x0fy\x7f", "xy"],
  ["a lone escape", "a\x1b", "a"],
  ["a sequence cut at the end", "a\x1b[3", "a"],
  ["an escape before a sequence", "a\x1b\x1b[31mb", "ab"],
])("plainText removes %s", (_, text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test("a title sequence that never ends removes no output", () => {
  expect(plainText("\x1b]0;oops\nresult 42\n\x9dmore\nend\n")).toBe("0;oops\nresult 42\nmore\nend\n");
});

test("tabs, newlines, form feeds and all other characters stay unchanged", () => {
  const text = "a\tb\n\n\x0b\x0c é😀\u200d\u00a0\n";
  expect(plainText(text)).toBe(text);
});

test("a NUL that separates names is shown as a symbol", () => {
  expect(plainText("a\0b\0")).toBe("a\u2400b\u2400");
});

describe("a line that is redrawn", () => {
  test.each([
    ["a progress bar", " 10%\r 50%\r100%\n", "100%\n"],
    ["a shorter last state", "downloading 50%\rdone\nnext\n", "done\nnext\n"],
    ["a return at the very end", "10%\r20%\r", "20%"],
    ["a return before the line end", "a\r\nb\r\r\nc", "a\nb\nc"],
    ["nothing but returns", "\r\r\n", "\n"],
    ["a bar that is erased", "100%\r\x1b[K\ndone\n", "\ndone\n"],
    ["erase, then the new state", "\x1b[2K\x1b[1G10%\x1b[2K\x1b[1G20%\x1b[0K\n", "20%\n"],
    ["erase at the end of the line", "abc\x1b[K\n", "abc\n"],
    ["colors inside", "\x1b[32m10%\x1b[0m\r\x1b[32m20%\x1b[0m\n", "20%\n"],
    ["a counter with backspaces", "at 10%\b\b\b20%\b\b\b30%\n", "at 30%\n"],
    ["a spinner", "|\b/\b-\b\\\bok\n", "ok\n"],
    ["overstruck bold and underline", "N\bNA\bA _\bx\n", "NA x\n"],
    ["a character erased by backspace and space", "abc\b \bd\n", "abd\n"],
    ["a backspace at the end", "abc\b\n", "abc\n"],
    ["a backspace and erase to the end", "abc\b\x1b[K\n", "ab\n"],
    ["more backspaces than text", "a\b\b\b\bxyz\n", "xyz\n"],
    ["a backspace over an emoji", "a😀\bb\n", "ab\n"],
    ["a backspace after a return", "abc\r\bx\n", "x\n"],
  ])("%s is shown in its last state", (_, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });
});

const terminalText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\x1b",
        "\x1b[",
        "\x1b[31m",
        "\x1b]0;",
        "\x07",
        "\x1b\\",
        "\x9b",
        "\x9d",
        "\r",
        "\n",
        "\b",
        "\x1b[K",
        "50%",
      ),
    ),
  )
  .map((parts) => parts.join(""));

test("converting a text twice changes nothing more, and no control character is left", () => {
  fc.assert(
    fc.property(terminalText, (text) => {
      const plain = plainText(text);
      expect(plainText(plain)).toBe(plain);
      expect(plain).not.toMatch(/[\x00-\x08\x0d-\x1f\x7f-\x9f]/);
      expect(plain.split("\n").length).toBe(text.split("\n").length);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ["unclosed titles", "\x1b]"],
  ["unclosed one-byte titles", "\x9d"],
  ["unclosed sequences", "\x1b[1"],
  ["parameters without end", "0;"],
  ["returns", "a\r"],
  ["backspaces", "ab\b"],
  ["escapes", "\x1b"],
])("a million characters of %s take linear time", (_, unit) => {
  const text = `\x1b[${unit.repeat(Math.ceil(1_000_000 / unit.length))}`;
  const started = performance.now();
  plainText(text);
  plainText(`${"a".repeat(500_000)}${"\b".repeat(500_000)}x`);
  // Quadratic time would take hours.
  expect(performance.now() - started).toBeLessThan(60_000);
});
