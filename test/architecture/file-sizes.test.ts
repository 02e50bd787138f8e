// Files are short enough to read in one sitting.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "../docs/pages.ts";

const FILE_MAX_LINES = 300;
const SOURCE_MEDIAN_MAX_LINES = 80;

interface SizedFile {
  readonly file: string;
  readonly lines: number;
}

function filesIn(...folders: string[]): SizedFile[] {
  const endings = [".ts", ".mts", ".mjs", ".sh"];
  return folders
    .flatMap((folder) => ts.sys.readDirectory(`${root}/${folder}`, endings))
    .map((path) => ({
      file: relative(root, path),
      lines: readFileSync(path, "utf8").split("\n").length - 1,
    }));
}

function tooLong(files: readonly SizedFile[]): string[] {
  return files
    .filter(({ lines }) => lines > FILE_MAX_LINES)
    .map(({ file, lines }) => `${file}: ${lines} lines`);
}

test(`no file has more than ${FILE_MAX_LINES} lines`, () => {
  const files = filesIn("src", "test", "scripts", "bench", "examples");
  expect(files.length).toBeGreaterThan(600);
  expect(tooLong(files)).toEqual([]);
  expect(tooLong([{ file: "planted.ts", lines: FILE_MAX_LINES + 1 }])).toEqual(["planted.ts: 301 lines"]);
});

test(`half of the source files have at most ${SOURCE_MEDIAN_MAX_LINES} lines`, () => {
  const sizes = filesIn("src").map(({ lines }) => lines);
  sizes.sort((one, other) => one - other);
  expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(SOURCE_MEDIAN_MAX_LINES);
});
