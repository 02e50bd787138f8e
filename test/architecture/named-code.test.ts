// Every file and function named in ARCHITECTURE.md, AGENTS.md or a folder's README exists.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../docs/pages.ts";

const inSource = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
const readmes = inSource.filter((file) => file.endsWith("README.md")).map((file) => join("src", file));
const PAGES = ["ARCHITECTURE.md", "AGENTS.md", ...readmes];

const sources = inSource
  .filter((file) => /\.(ts|sh)$/.test(file))
  .map((file) => readFileSync(join(root, "src", file), "utf8"))
  .join("\n");
const basenames = new Set(inSource.map((file) => file.split("/").pop()));

/** Names in a page that exist nowhere: paths of files, and `function`, `Class` or `Class.member` in backticks. */
function missingIn(page: string, text: string): string[] {
  const folder = dirname(join(root, page));
  const paths = [...text.matchAll(/(?<![\w./*<-])([\w-]+(?:\/[\w.-]+)*\.(?:ts|sh|mjs|cjs))\b/g)].map(
    ([, path = ""]) => path,
  );
  const isFile = (path: string) =>
    path.includes("/")
      ? [root, join(root, "src"), folder].some((at) => existsSync(join(at, path)))
      : basenames.has(path) || existsSync(join(root, path));
  const names = [...text.matchAll(/`([A-Z]\w+(?:\.#?\w+)?|[a-z]+[A-Z]\w+)`/g)].map(([, name = ""]) => name);
  // `NAME.md` matches the pattern for a member of a class, so look for a file of that name first.
  const isDeclared = (name: string) =>
    existsSync(join(root, name)) ||
    name.split(".").every((part) => new RegExp(`(?<![\\w$])${part}(?!\\w)`).test(sources));
  return [...paths.filter((path) => !isFile(path)), ...names.filter((name) => !isDeclared(name))];
}

test.each(PAGES)("%s names only files and functions that exist", (page) => {
  expect(missingIn(page, readFileSync(join(root, page), "utf8"))).toEqual([]);
});

test("the names of missing files and functions are reported", () => {
  const text = "`Engine.startTwice` (engine/missing.ts) calls `planStart` in `gone.sh`.";
  expect(missingIn("ARCHITECTURE.md", text)).toEqual(["engine/missing.ts", "gone.sh", "Engine.startTwice"]);
});
