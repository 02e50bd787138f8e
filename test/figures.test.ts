// The figures in README.md must match the benchmark report.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withFigures } from "../scripts/bench-figures.mjs";

const root = join(import.meta.dirname, "..");
const read = (name: string) => readFileSync(join(root, name), "utf8");

/** Numbers as written, with all their digits. */
function numbersOf(text: string): Set<string> {
  return new Set(text.match(/(?<![\w.])\d+(?:\.\d+)*(?![\d])/g));
}

const FIGURES = /<!-- figures: [^\n]*-->(.*?)<!-- end of figures -->/s;
const [, figures = ""] = FIGURES.exec(read("README.md")) ?? [];
const report = read("bench/REPORT.md");

test("README.md has figures, and each of them is in the report", () => {
  const named = [...numbersOf(figures)];
  expect(named.length).toBeGreaterThan(10);
  const known = numbersOf(report);
  expect(named.filter((number) => !known.has(number))).toEqual([]);
});

test("each figure equals the figure in the report", () => {
  const written = withFigures(read("README.md"), findingsOf(report));
  const [, expected = ""] = FIGURES.exec(written) ?? [];
  expect(cellsOf(figures)).toEqual(cellsOf(expected));
});

/** The cells of a table, without padding. */
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

/** Reads the benchmark results back from the tables of the report. */
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

test("the text around the figures contains no other figures", () => {
  // Skip the comparison: it states facts about other projects. npm run newcomer checks the size of the package.
  const around = read("README.md").replace(/^## Comparison$.*?(?=^## )/ms, "");
  expect(around).toContain(figures);
  const claims = around.replace(figures, "").replace(/^```.*?^```$/gms, "");
  // A figure outside the table would not be checked, and would become stale. Commands in backticks may have numbers.
  expect(claims.replace(/`[^`]*`/g, "").match(/\d+(?:\.\d+)?\s*(?:x|times|ms|MB|GB|%)/g)).toBeNull();
});

test("the report starts with the missed targets, and contains no host name and no path", () => {
  expect(report).toMatch(
    /^# Benchmarks\n\n(All \d+ targets are met\.|\d+ of \d+ targets are met\. Missed:\n\n- )/,
  );
  expect(report).not.toMatch(/\/(?:tmp|home|root|work|usr|opt)\/|https?:\/\//);
});
