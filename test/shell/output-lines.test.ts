import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSearch } from "../../src/shell/output-lines.ts";
import { joinStreams } from "../../src/shell/output-text.ts";
import { MATCH_LINE_MAX_CHARS } from "../../src/support/limits.ts";
import { useDirectories } from "../fixtures/directories.ts";

const directory = useDirectories();
const containing = (text: string) => ({ matches: (line: string) => line.includes(text) });

test("a line is found however the file grew", () => {
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
        const line = search.advance();
        if (line !== undefined) found.push(line);
      }
      expect(found[0]).toBe("b€ needle c");
    }),
    { numRuns: 100 },
  );
});

test("a file that is missing has no line yet", () => {
  const path = join(directory(), "out");
  const search = new LineSearch(path, 0, containing("x"));
  expect(search.advance()).toBeUndefined();
  writeFileSync(path, "x");
  expect(search.advance()).toBe("x");
});

test("of one endless line only the last part is looked at, and no more is kept", () => {
  const path = join(directory(), "out");
  writeFileSync(path, `${"a".repeat(3 * MATCH_LINE_MAX_CHARS)}needle`);
  const line = new LineSearch(path, 0, containing("needle")).advance();
  expect(line?.endsWith("aneedle")).toBe(true);
  expect(line?.length).toBeLessThanOrEqual(MATCH_LINE_MAX_CHARS);
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
