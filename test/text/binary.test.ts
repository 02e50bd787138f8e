import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeBinary, isBinary } from "../../src/text/binary.ts";

const noise = (bytes: number): Buffer => {
  let seed = 42;
  return Buffer.from(
    Array.from({ length: bytes }, () => {
      seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
      return seed >> 16;
    }),
  );
};
const start = (latin1: string, bytes = 64): Buffer =>
  Buffer.concat([Buffer.from(latin1, "latin1"), noise(bytes)]);

describe("binary output", () => {
  test("is described in one line with its size, its kind and its file", () => {
    const sample = start("\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    expect(describeBinary({ sample, totalBytes: 1_048_576, outputFile: "/spool/out" })).toBe(
      "[binary output: 1048576 bytes, looks like PNG; the raw bytes are in /spool/out]",
    );
  });

  test("of an unknown kind is described without a kind", () => {
    expect(describeBinary({ sample: noise(500), totalBytes: 500 })).toBe("[binary output: 500 bytes]");
  });

  test.each([
    ["gzip", "\x1f\x8b\x08\0\0\0\0\0"],
    ["ZIP", "PK\x03\x04\x14\0\0\0"],
    ["ELF", "\x7fELF\x02\x01\x01\0\0\0\0"],
    ["JPEG", "\xff\xd8\xff\xe0\0\x10JFIF"],
    ["PDF", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"],
    ["UTF-16 text", "\xff\xfeh\0i\0"],
    ["tar", `${"name".padEnd(257, "\0")}ustar`],
  ])("looks like %s", (kind, beginning) => {
    expect(describeBinary({ sample: start(beginning), totalBytes: 9 })).toContain(`looks like ${kind}`);
  });

  test("is recognized if it consists of zeros, or of UTF-16 without a byte order mark", () => {
    expect(isBinary(Buffer.alloc(1_000))).toBe(true);
    expect(isBinary(Buffer.from("plain words in two bytes each", "utf16le"))).toBe(true);
  });

  test("is recognized from its beginning alone", () => {
    expect(isBinary(Buffer.concat([noise(10_000), Buffer.alloc(100_000, "a")]))).toBe(true);
    expect(isBinary(Buffer.concat([Buffer.alloc(10_000, "a"), noise(100_000)]))).toBe(false);
  });
});

describe("text", () => {
  test.each([
    ["nothing", ""],
    ["colors and bells", "\x1b[31mred\x1b[0m\x07\b\r\n".repeat(50)],
    ["names separated by NUL", "src/index.ts\0README.md\0".repeat(50)],
    ["a few stray bytes", "caf\xe9 \xff\xfe\n"],
    [
      "Latin-1 prose",
      "Les \xe9l\xe8ves \xe9taient l\xe0 avant midi, comme chaque jour de la semaine.\n".repeat(20),
    ],
    ["words that begin like a format", "GIF89a is a format; MZ too; PK\n"],
    ["only five bytes of noise", "\xff\xfe\xfd\xfc\xfb"],
  ])("%s is text", (_, latin1) => {
    expect(
      describeBinary({ sample: Buffer.from(latin1, "latin1"), totalBytes: latin1.length }),
    ).toBeUndefined();
  });

  test("in any script is recognized as text, even if the sample ends inside a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.nat({ max: 3 }), (text, cut) => {
        const bytes = Buffer.from(text.repeat(20));
        expect(isBinary(bytes.subarray(0, bytes.length - cut))).toBe(false);
      }),
    );
  });
});
