// BaseTool.execute turns an error into a result, and no other function does. A tool that adds metadata overrides
// BaseTool.failed. The CLI prints a result for an error outside of a tool call.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Functions that make a failed result from an error. */
const CONVERTS = /^(?:ToolResult\.fail|failureOf|notRunResult|this\.failed)$/;

/** Functions that catch an error and convert it, as `file: function`. */
function catchPoints(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (isHandler(node) && converts(node)) found.add(`${file}: ${functionAround(node)}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

/** A catch clause, or the callback of `.catch()`. */
function isHandler(node: ts.Node): boolean {
  if (ts.isCatchClause(node)) return true;
  return ts.isCallExpression(node) && /\.catch$/.test(node.expression.getText()) && node.arguments.length > 0;
}

function converts(handler: ts.Node): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    // The promise before `.catch()` is not part of the handler.
    if (ts.isCallExpression(node) && node !== handler && CONVERTS.test(node.expression.getText()))
      found = true;
    ts.forEachChild(node, visit);
  };
  if (ts.isCallExpression(handler)) handler.arguments.forEach(visit);
  else visit(handler);
  return found;
}

function functionAround(node: ts.Node): string {
  for (let at: ts.Node = node; at.parent; at = at.parent) {
    if ((ts.isMethodDeclaration(at) || ts.isFunctionDeclaration(at)) && at.name) return at.name.getText();
  }
  return "module";
}

const sources = ts.sys.readDirectory(join(root, "src"), [".ts"]).map((path) => relative(root, path));
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

test("only BaseTool.execute catches an error and turns it into a result", () => {
  expect(sources.length).toBeGreaterThan(300);
  const found = sources.flatMap((file) => catchPoints(file, textOf(file)));
  expect(found).toEqual(["src/tool/tool.ts: execute"]);
});

test("only overrides of BaseTool.failed and the CLI make the result of a command that did not run", () => {
  const callers = sources.filter((file) => /(?<!function )\bnotRunResult[(<]/.test(textOf(file)));
  expect(callers.sort()).toEqual(["src/cli/cli.ts", "src/execution/bash.ts", "src/execution/modes.ts"]);
});

test.each([
  "function run() { try { work(); } catch (error) { return ToolResult.fail(String(error), { code }); } }",
  "function run() { return work().catch((error) => notRunResult(error)); }",
])("a planted catch is found: %s", (planted) => {
  expect(catchPoints("planted.ts", planted)).toEqual(["planted.ts: run"]);
});

test("a catch that makes no result is not reported", () => {
  expect(catchPoints("ordinary.ts", "function f() { try { work(); } catch { return undefined; } }")).toEqual(
    [],
  );
});
