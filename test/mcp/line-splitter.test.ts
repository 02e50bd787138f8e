import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "../../src/mcp/line-splitter.ts";

function split(chunks: readonly (string | Buffer)[], maxBytes = 100): (string | undefined)[] {
  const splitter = new LineSplitter(maxBytes);
  return [...chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))]), ...splitter.end()];
}

test("lines come out whole, however the bytes come in", () => {
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

test("a line over the limit comes out as nothing, once, and the next one is whole", () => {
  const long = "x".repeat(60);
  expect(split(["a\n", long, long, "\nb\n"])).toEqual(["a", undefined, "b"]);
  expect(split(["x".repeat(100), "\n"])).toEqual(["x".repeat(100)]);
  expect(split(["x".repeat(101), "\n"])).toEqual([undefined]);
});

test("what stands behind the last newline comes at the end", () => {
  expect(split(["a\nb"])).toEqual(["a", "b"]);
  expect(split(["a\n"])).toEqual(["a"]);
  expect(split(["x".repeat(200)])).toEqual([undefined]);
});
