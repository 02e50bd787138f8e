import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createUtf8Decoder,
  decodeUtf8,
  incompleteTailBytes,
  measureText,
  measureUtf8,
  orphanedHeadBytes,
} from "../../src/text/decode.ts";

const oddBytes = fc.array(
  fc.constantFrom(
    0x41,
    0x0a,
    0x80,
    0x9f,
    0xa0,
    0xbf,
    0xc0,
    0xc2,
    0xe0,
    0xe2,
    0x82,
    0xac,
    0xed,
    0xf0,
    0x90,
    0xf4,
    0xff,
  ),
);
const bytes = fc.oneof(
  oddBytes.map((list) => Uint8Array.from(list)),
  fc.string({ unit: "binary" }).map((text) => new Uint8Array(Buffer.from(text))),
  fc.uint8Array(),
);
const standard = (input: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);

describe("decoding", () => {
  test("returns the same text as the Encoding Standard for every division into chunks", () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat({ max: 4 }), { minLength: 1 }), (input, sizes) => {
        const decoder = createUtf8Decoder();
        let out = "";
        for (let at = 0, i = 0; at < input.length; i++) {
          const size = 1 + (sizes[i % sizes.length] ?? 0);
          out += decoder.push(input.subarray(at, at + size));
          at += size;
        }
        expect(out + decoder.end()).toBe(standard(input));
        expect(decodeUtf8(input)).toBe(standard(input));
      }),
      { numRuns: 1_000 },
    );
  });

  test("a character whose bytes are in two chunks is returned once", () => {
    const decoder = createUtf8Decoder();
    const euro = Buffer.from("€");
    expect([decoder.push(euro.subarray(0, 2)), decoder.push(euro.subarray(2)), decoder.end()]).toEqual([
      "",
      "€",
      "",
    ]);
  });

  test("an incomplete character at the end becomes one replacement character", () => {
    const decoder = createUtf8Decoder();
    expect(decoder.push(Buffer.from("a€").subarray(0, 3)) + decoder.end()).toBe("a\ufffd");
    expect(decoder.push(Buffer.from("b")) + decoder.end()).toBe("b");
  });
});

describe("cutting bytes", () => {
  test.each([
    ["", 0],
    ["61", 0],
    ["c3", 1],
    ["c3a9", 0],
    ["61e2", 1],
    ["61e282", 2],
    ["e282ac", 0],
    ["f09f", 2],
    ["f09f98", 3],
    ["f09f9880", 0],
    ["80808080", 0],
    ["e080", 0],
    ["eda0", 0],
    ["f080", 0],
    ["f490", 0],
    ["f5", 0],
    ["ff", 0],
  ])("%s ends in %i bytes of an incomplete character", (hex, count) => {
    expect(incompleteTailBytes(Buffer.from(hex, "hex"))).toBe(count);
  });

  test("a streaming decoder returns exactly the text before an incomplete character", () => {
    fc.assert(
      fc.property(bytes, (input) => {
        const kept = input.subarray(0, input.length - incompleteTailBytes(input));
        const streaming = new TextDecoder("utf-8", { ignoreBOM: true });
        expect(decodeUtf8(kept)).toBe(streaming.decode(input, { stream: true }));
      }),
      { numRuns: 1_000 },
    );
  });

  test("a tail that is read from any offset of a text begins with a whole character", () => {
    const text = Buffer.from("aé€😀z");
    for (let at = 0; at < text.length; at++) {
      const tail = text.subarray(at);
      expect("aé€😀z".endsWith(decodeUtf8(tail.subarray(orphanedHeadBytes(tail))))).toBe(true);
    }
  });
});

test("measureText and measureUtf8 give the same size, even for bytes in two chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), (parts) => {
      const text = parts.join("\n");
      const all = Buffer.from(text);
      const half = Math.floor(all.length / 2);
      const [a, b] = [measureUtf8(all.subarray(0, half)), measureUtf8(all.subarray(half))];
      expect({ characters: a.characters + b.characters, lines: a.lines + b.lines }).toEqual(
        measureText(text),
      );
    }),
  );
});
