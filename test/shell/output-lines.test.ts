import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSearch } from "../../src/shell/output-lines.ts";
import { joinStreams } from "../../src/shell/output-text.ts";
import { MATCH_LINE_MAX_CHARS, READ_CHUNK_BYTES, READ_TURN_CHUNKS_COUNT } from "../../src/support/limits.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const containing = (text: string) => ({ matches: (line: string) => line.includes(text) });

test("a line is found even if the file grows in arbitrary steps", () => {
  const path = join(directory(), "out");
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 12 })), (cuts) => {
      const bytes = Buffer.from("aé\nb€ needle c\nd");
      writeFileSync(path, "");
      const search = new LineSearch(path, 0, { matches: (line) => /^b€ needle c$/.test(line) });
      const found: string[] = [];
      let at = 0;
      for (const size of [...cuts, bytes.length]) {
        appendFileSync(path, bytes.subarray(at, at + size));
        at += size;
        const result = search.advance();
        if (typeof result === "object") found.push(result.line);
      }
      expect(found[0]).toBe("b€ needle c");
    }),
    { numRuns: 100 },
  );
});

test("a missing file has no line yet", () => {
  const path = join(directory(), "out");
  const search = new LineSearch(path, 0, containing("x"));
  expect(search.advance()).toBe("dry");
  writeFileSync(path, "x");
  expect(search.advance()).toEqual({ line: "x" });
});

test("an endless line is tested in overlapping pieces of limited size", () => {
  const path = join(directory(), "out");
  const longest = READ_CHUNK_BYTES + MATCH_LINE_MAX_CHARS;
  writeFileSync(path, `${"a".repeat(READ_CHUNK_BYTES - 3)}needle${"b".repeat(3 * READ_CHUNK_BYTES)}`);
  const lengths: number[] = [];
  const search = new LineSearch(path, 0, {
    matches: (line) => {
      lengths.push(line.length);
      return line.includes("needle");
    },
  });
  expect(search.advance()).toEqual({ line: expect.stringContaining("aneedleb") });
  expect(Math.max(...lengths)).toBeLessThanOrEqual(longest);
});

test("a backlog is searched in several calls, so that other work can run in between", () => {
  const path = join(directory(), "out");
  writeFileSync(path, "a".repeat(READ_CHUNK_BYTES * READ_TURN_CHUNKS_COUNT + 1));
  const search = new LineSearch(path, 0, containing("b"));
  expect([search.advance(), search.advance()]).toEqual(["more", "dry"]);
});

test.each([
  ["", "", ""],
  ["a", "", "a"],
  ["", "e", "[stderr]\ne"],
  ["a\n", "e", "a\n[stderr]\ne"],
  ["a", "e\n", "a\n[stderr]\ne\n"],
])("the streams %j and %j read as %j", (stdout, stderr, joined) => {
  expect(joinStreams(stdout, stderr)).toBe(joined);
});
