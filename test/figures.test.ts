// What README.md says about speed and size must stand in the report of the benchmarks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (name: string) => readFileSync(join(root, name), "utf8");

/** Numbers as they are written, with what makes them another number if it is missing. */
function numbersOf(text: string): Set<string> {
  return new Set(text.match(/(?<![\w.])\d+(?:\.\d+)*(?![\d])/g));
}

const [, figures = ""] = /<!-- figures: [^\n]*-->(.*?)<!-- end of figures -->/s.exec(read("README.md")) ?? [];
const report = read("bench/REPORT.md");

test("README.md has figures, and each of them stands in the report", () => {
  const named = [...numbersOf(figures)];
  expect(named.length).toBeGreaterThan(10);
  const known = numbersOf(report);
  expect(named.filter((number) => !known.has(number))).toEqual([]);
});

test("the claims around them are those of the report", () => {
  const [, around = ""] = /## What it guarantees(.*?)## As a library/s.exec(read("README.md")) ?? [];
  const claims = around.replace(figures, "");
  // No figure outside the table: it would grow old where nobody looks. (Names of commands have numbers, too.)
  expect(claims.replace(/`[^`]*`/g, "").match(/\d+(?:\.\d+)?\s*(?:x|times|ms|MB|GB|%)/g)).toBeNull();
});

test("the report begins with what was missed, and names no machine and no path", () => {
  expect(report).toMatch(
    /^# Benchmarks\n\n(All \d+ targets are met\.|\d+ of \d+ targets are met\. Missed:\n\n- )/,
  );
  expect(report).not.toMatch(/\/(?:tmp|home|root|work|usr|opt)\/|https?:\/\//);
});
