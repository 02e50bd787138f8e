// What README.md says about speed and size must stand in the report of the benchmarks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withFigures } from "../scripts/bench-figures.mjs";

const root = join(import.meta.dirname, "..");
const read = (name: string) => readFileSync(join(root, name), "utf8");

/** Numbers as they are written, with what makes them another number if it is missing. */
function numbersOf(text: string): Set<string> {
  return new Set(text.match(/(?<![\w.])\d+(?:\.\d+)*(?![\d])/g));
}

const FIGURES = /<!-- figures: [^\n]*-->(.*?)<!-- end of figures -->/s;
const [, figures = ""] = FIGURES.exec(read("README.md")) ?? [];
const report = read("bench/REPORT.md");

test("README.md has figures, and each of them stands in the report", () => {
  const named = [...numbersOf(figures)];
  expect(named.length).toBeGreaterThan(10);
  const known = numbersOf(report);
  expect(named.filter((number) => !known.has(number))).toEqual([]);
});

test("each figure is the one that the report has for it", () => {
  const written = withFigures(read("README.md"), findingsOf(report));
  const [, expected = ""] = FIGURES.exec(written) ?? [];
  expect(cellsOf(figures)).toEqual(cellsOf(expected));
});

/** The rows of a table, whatever its columns are filled up with. */
function cellsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^[| -]+$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
}

/** What the page was made of, as far as its tables tell. */
function findingsOf(page: string) {
  const benches = page.split(/^## /m).slice(1);
  return {
    benches: benches.map((section) => ({
      name: section.slice(0, section.indexOf("\n")),
      tables: [...section.matchAll(/^\*\*(.+)\*\*\n\n((?:\|.*\n)+)/gm)].map(([, title = "", table = ""]) => {
        const [columns = [], ...rows] = cellsOf(table);
        return { title, columns, rows };
      }),
    })),
  };
}

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
