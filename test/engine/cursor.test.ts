import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Cursor, readRange, sizeOf } from "../../src/engine/cursor.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();

describe("a cursor", () => {
  test("reads every byte of a growing file once and in order, in steps of any size", () => {
    const step = fc.oneof(
      fc.record({ append: fc.uint8Array({ maxLength: 50 }) }),
      fc.record({ read: fc.nat({ max: 40 }), keep: fc.nat({ max: 3 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const path = join(directory(), "out");
        const cursor = new Cursor(path);
        const written: Uint8Array[] = [];
        const read: Buffer[] = [];
        const take = (max: number, keep: number) => {
          const bytes = cursor.peek(max);
          const taken = bytes.subarray(0, Math.max(0, bytes.length - keep));
          cursor.advance(taken.length);
          read.push(Buffer.from(taken));
        };
        for (const one of steps) {
          if ("append" in one) {
            appendFileSync(path, one.append);
            written.push(one.append);
          } else take(one.read, one.keep);
        }
        take(1_000_000, 0);
        expect(Buffer.concat(read)).toEqual(Buffer.concat(written));
        expect(cursor.position).toBe(sizeOf(path));
      }),
      { numRuns: 60 },
    );
  });

  test("does not move during a peek", () => {
    const path = join(directory(), "out");
    writeFileSync(path, "hello");
    const cursor = new Cursor(path, 1);
    expect([String(cursor.peek(2)), String(cursor.peek(9)), cursor.position]).toEqual(["el", "ello", 1]);
  });

  test("of one reader does not move the cursor of another reader", () => {
    const path = join(directory(), "out");
    writeFileSync(path, "ab");
    const [first, second] = [new Cursor(path), new Cursor(path)];
    first.advance(2);
    appendFileSync(path, "c");
    expect([String(first.peek(9)), String(second.peek(9))]).toEqual(["c", "abc"]);
  });

  test("keeps its position until a missing file is created", () => {
    const path = join(directory(), "out");
    const cursor = new Cursor(path);
    expect(cursor.peek(10)).toHaveLength(0);
    writeFileSync(path, "now");
    expect(String(cursor.peek(10))).toBe("now");
  });

  test("that is beyond the end of a truncated file reads nothing", () => {
    const path = join(directory(), "out");
    writeFileSync(path, "abcdef");
    const cursor = new Cursor(path, 6);
    truncateSync(path, 2);
    expect(cursor.peek(10)).toHaveLength(0);
  });
});

describe("a range", () => {
  test.each([
    [0, 3, "abc"],
    [2, 4, "cd"],
    [4, 99, "ef"],
    [6, 99, ""],
    [9, 99, ""],
    [3, 3, ""],
    [4, 2, ""],
  ])("from %i to %i of abcdef is %j", (from, to, text) => {
    const path = join(directory(), "out");
    writeFileSync(path, "abcdef");
    expect(String(readRange(path, from, to))).toBe(text);
  });

  test("of a missing file is empty and has size 0", () => {
    const path = join(directory(), "none");
    expect([readRange(path, 0, 9).length, sizeOf(path)]).toEqual([0, 0]);
  });

  test("of a directory causes an error instead of an empty output", () => {
    expect(() => readRange(directory(), 0, 9)).toThrow("EISDIR");
  });
});

test("a file that was truncated is read from its beginning, and the cursor reports the truncation", () => {
  const path = join(directory(), "out");
  writeFileSync(path, "a long first line\n");
  const cursor = new Cursor(path);
  cursor.advance(cursor.peek(100).length);
  expect(cursor.takeTruncation()).toBe(false);
  writeFileSync(path, "later\n");
  expect(cursor.settle()).toBe(0);
  expect(cursor.peek(100).toString()).toBe("later\n");
  expect([cursor.takeTruncation(), cursor.takeTruncation()]).toEqual([true, false]);
});
