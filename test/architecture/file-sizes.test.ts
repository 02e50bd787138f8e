// Files are short enough to read in one sitting.
import { existsSync, readdirSync, readFileSync } from "node:fs";
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

const README_MAX_LINES = 30;

test(`each large folder has a README with at most ${README_MAX_LINES} lines`, () => {
  const sizes = ["engine", "session", "policy"].map((folder) => {
    const lines = readFileSync(`${root}/src/${folder}/README.md`, "utf8").split("\n").length - 1;
    return { file: `src/${folder}/README.md`, lines };
  });
  expect(sizes.filter(({ lines }) => lines > README_MAX_LINES)).toEqual([]);
});

/** Returns the folders of src that neither the page's diagram nor its caption names. */
function missingIn(page: string): string[] {
  const diagram = /```mermaid[\s\S]*?\n```\n+.*/.exec(page)?.[0] ?? "";
  return readdirSync(`${root}/src`).filter(
    (name) => existsSync(`${root}/src/${name}/.`) && !new RegExp(`\\b${name}\\b`).test(diagram),
  );
}

test("the diagram in ARCHITECTURE.md names every folder", () => {
  const page = readFileSync(`${root}/ARCHITECTURE.md`, "utf8");
  expect(missingIn(page)).toEqual([]);
  expect(missingIn(page.replaceAll("terminal", "")).sort()).toEqual(["terminal"]);
});
