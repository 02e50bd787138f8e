import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import {
  bytesOfText,
  entriesOf,
  fsPath,
  isPathText,
  linkTarget,
  namesIn,
  resolvedPath,
  shownPath,
  textOfBytes,
  wirePath,
} from "../../src/support/path-text.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

/** A name that contains every byte that a file name can contain. */
const EVERY_BYTE = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1).filter((byte) => byte !== 0x2f));

test.each([
  ["ASCII", Buffer.from("/srv/project")],
  ["UTF-8 of every length", Buffer.from("/ä/語/😀")],
  ["a real replacement character", Buffer.from("/\ufffd")],
  ["a replacement character next to a stray byte", Buffer.from([0xef, 0xbf, 0xbd, 0xff])],
  ["half a character", Buffer.from([0x2f, 0xe2, 0x82])],
  ["overlong encodings", Buffer.from([0xc0, 0xaf, 0xf8, 0x88, 0x80, 0x80])],
  ["surrogates as UTF-8", Buffer.from([0xed, 0xb3, 0xbf, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80])],
  ["a stray byte after a pair of surrogates", Buffer.from([0xf0, 0x9f, 0x98, 0x80, 0xff])],
  ["a code point beyond the last one", Buffer.from([0xf4, 0x90, 0x80, 0x80])],
  ["every byte", EVERY_BYTE],
])("bytes are unchanged after a round trip through text: %s", (_, bytes) => {
  const text = textOfBytes(bytes);
  expect(bytesOfText(text)).toEqual(bytes);
  expect(isPathText(text)).toBe(true);
  expect(bytesOfText(JSON.parse(JSON.stringify(text)))).toEqual(bytes);
});

test("random bytes are unchanged after a round trip through text", () => {
  let seed = 1;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 0x8000_0000;
    return seed >> 16;
  };
  for (let round = 0; round < 5_000; round++) {
    const bytes = Buffer.from(Array.from({ length: next() % 12 }, () => next() & 0xff));
    expect(bytesOfText(textOfBytes(bytes))).toEqual(bytes);
  }
});

test("UTF-8 text stays unchanged, and different names have different texts", () => {
  expect(textOfBytes(Buffer.from("/ä\ufffd"))).toBe("/ä\ufffd");
  expect(textOfBytes(Buffer.from([0xff]))).toBe("\udcff");
  expect(textOfBytes(Buffer.from([0xff]))).not.toBe(textOfBytes(Buffer.from("\ufffd")));
});

test("text with a lone surrogate that represents no byte is not a path", () => {
  for (const text of ["\ud800", "\udc00", "\udc7f", "\udfff"]) expect(isPathText(`/a${text}`)).toBe(false);
  // These two bytes together are a valid character, so neither is a stray byte.
  expect(isPathText("/\udcc3\udca4")).toBe(false);
});

test("a link, a real path and a listing give the same text for a name", () => {
  const dir = directory();
  const odd = textOfBytes(Buffer.from([0x64, 0xff]));
  mkdirSync(fsPath(`${dir}/${odd}`));
  symlinkSync(fsPath(`${dir}/${odd}`), `${dir}/link`);
  symlinkSync("link", fsPath(`${dir}/${odd}2`));
  expect(linkTarget(`${dir}/link`)).toBe(`${dir}/${odd}`);
  expect(linkTarget(`${dir}/${odd}2`)).toBe("link");
  expect(resolvedPath(`${dir}/${odd}2`)).toBe(`${dir}/${odd}`);
  expect(entriesOf(dir).map((entry) => [entry.name, entry.isDirectory()])).toEqual(
    expect.arrayContaining([
      [odd, true],
      ["link", false],
    ]),
  );
  expect(entriesOf(`${dir}/${odd}`)).toEqual([]);
  expect(namesIn(dir).sort()).toEqual([odd, `${odd}2`, "link"].sort());
});

test("a path is shown in a readable form, from which bash reads the same path back", () => {
  for (const path of ["/srv/project", "/a b/it's", "/ä/語/😀", "/\ufffd", "/a\\b"]) {
    expect(shownPath(path)).toBe(path);
    expect(wirePath(path)).toBe(path);
  }
  expect(shownPath("/d\udcff1")).toBe("$'/d\\xff1'");
  expect(shownPath("/a\nb\x85\u202e")).toBe("$'/a\\x0ab\\xc2\\x85\\xe2\\x80\\xae'");
  expect(wirePath("/a\nb")).toBe("/a\nb");
  const path = textOfBytes(Buffer.concat([Buffer.from("/it's\\ "), EVERY_BYTE, Buffer.from("1f")]));
  expect(wirePath(path).isWellFormed()).toBe(true);
  for (const locale of ["C", "C.UTF-8"]) {
    const printed = execFileSync("bash", ["--norc", "-c", `printf %s ${shownPath(path)}`], {
      env: { LC_ALL: locale },
    });
    expect(printed).toEqual(bytesOfText(path));
  }
});
