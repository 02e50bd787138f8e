import { expect, test } from "vitest";
import { withoutColors } from "../../src/shell/output-search-bytes.ts";
import { plainText } from "../../src/text/terminal.ts";

const PIECES = [
  "text",
  "ü漢🎉",
  "1;2m",
  "\t",
  "\n",
  "\r\n",
  "\r",
  "\b",
  "\0",
  "\x07",
  "\x1b",
  "\x1b[",
  "\x1b[0m",
  "\x1b[38;5;1m",
  "\x1b[K",
  "\x1b[0K",
  "\x1b[2K",
  "\x1b[1G",
  "\x1b[3A",
  "\x1b[!1p",
  "\x1b(B",
  "\x1b(",
  "\x1b]0;title\x07",
];

test("withoutColors returns the same lines as plainText, or leaves the text to plainText", () => {
  let handled = 0;
  for (let i = 0; i < 20_000; i++) {
    const count = 1 + Math.floor(Math.random() * 8);
    // Most pieces are harmless, so many texts contain no redrawn line.
    const text = Array.from({ length: count }, () => {
      const from = Math.random() < 0.9 ? [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 18, 20] : PIECES.keys();
      const choice = [...from];
      return PIECES[choice[Math.floor(Math.random() * choice.length)] ?? 0];
    }).join("");
    const bytes = Buffer.from(text);
    const plain = withoutColors(bytes, Buffer.alloc(bytes.length));
    if (plain === undefined) continue;
    handled++;
    const expected = text.split("\n").map((line) => plainText(line.replace(/\r$/, "")));
    expect([text, plain.toString()]).toEqual([text, expected.join("\n")]);
  }
  expect(handled).toBeGreaterThan(5_000);
});
