// Only engine/state-dir.ts contains the names of files, directories and fifos below the state root.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { KEEPER_NAMES, ROOT_NAMES, SESSION_NAMES, SHELL_NAMES } from "../src/engine/state-dir.ts";

const root = join(import.meta.dirname, "..");
const OWNER = "src/engine/state-dir.ts";

const fixed = [ROOT_NAMES, SHELL_NAMES, SESSION_NAMES, KEEPER_NAMES]
  .flatMap((names): unknown[] => Object.values(names))
  .filter((name) => typeof name === "string");
/** The beginning of a name that continues with a number or a token. */
const numbered = /^(?:out|err|record|owner|state|restore|inherit|fifos|log)\.$/;
/** Names so distinctive that they can only mean an entry of the state root. */
const distinct = new Set(fixed.filter((name) => /[.-]/.test(name)));

/** The names in a file, as `file: name`: all names in calls of join, and distinct names anywhere. */
function namesIn(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) {
      const isJoined =
        ts.isCallExpression(node.parent) && /\bjoin$/.test(node.parent.expression.getText(source));
      if (distinct.has(node.text) || (isJoined && fixed.includes(node.text)))
        found.push(`${file}: ${node.text}`);
    }
    if (ts.isTemplateExpression(node) && numbered.test(node.head.text))
      found.push(`${file}: ${node.head.text}`);
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  visit(source);
  return found;
}

test("no other module names an entry of the state root; a planted name is found", () => {
  const files = ts.sys
    .readDirectory(join(root, "src"), [".ts"])
    .map((path) => relative(root, path))
    .filter((file) => file !== OWNER);
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap((file) => namesIn(file, readFileSync(join(root, file), "utf8")))).toEqual([]);
  const template = "`out.$" + "{n}`";
  const planted = `join(dir, "meta"); const a = "code-cache"; const b = ${template}; emit("start"); x = "out";`;
  expect(namesIn("planted.ts", planted)).toEqual([
    "planted.ts: meta",
    "planted.ts: code-cache",
    "planted.ts: out.",
  ]);
});
