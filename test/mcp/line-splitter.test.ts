import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "../../src/mcp/line-splitter.ts";
import type { Scanned } from "../../src/mcp/message-scan.ts";

const UNKNOWN = { id: null, isResponse: false };

function split(chunks: readonly (string | Buffer)[], maxBytes = 100): (string | Scanned)[] {
  const splitter = new LineSplitter(maxBytes);
  return [...chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))]), ...splitter.end()];
}

test("the splitter returns complete lines, wherever the bytes are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.integer({ min: 1, max: 9 }), (texts, size) => {
      const lines = texts.map((text) => text.replaceAll("\n", " "));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(split(chunks, 10_000)).toEqual(lines);
    }),
  );
});

test("in place of a line above the limit comes one scan result, and the next line is complete", () => {
  const long = "x".repeat(60);
  expect(split(["a\n", long, long, "\nb\n"])).toEqual(["a", UNKNOWN, "b"]);
  expect(split(["x".repeat(100), "\n"])).toEqual(["x".repeat(100)]);
  expect(split(["x".repeat(101), "\n"])).toEqual([UNKNOWN]);
});

test("the id in a line above the limit is found, even if the id comes after the limit", () => {
  const text = "x".repeat(60);
  const first = `{"id":7,"method":"m","params":{"text":"${text}${text}"}}`;
  const last = `{"params":{"id":1,"text":"${text}${text}"},"method":"m","id":"last"}`;
  for (const size of [1, 7, 64, 1_000]) {
    const cut = (line: string) => line.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    expect(split([...cut(first), "\n", ...cut(last), "\nb\n"])).toEqual([
      { id: 7, isResponse: false },
      { id: "last", isResponse: false },
      "b",
    ]);
  }
});

test("the splitter returns text after the last newline at the end of input", () => {
  expect(split(["a\nb"])).toEqual(["a", "b"]);
  expect(split(["a\n"])).toEqual(["a"]);
  expect(split(["x".repeat(200)])).toEqual([UNKNOWN]);
});
