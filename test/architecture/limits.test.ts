// Every limit is in src/support/limits/. In all other source files, the check finds named constants and bare numbers.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const LIMITS = "src/support/limits/";

/** Constants that only look like limits: parts of a format, facts of the system, and costs in the policy's budget. */
const NOT_LIMITS = new Set([
  ...["DIGEST_BYTES", "LENGTH_BYTES", "PART_BYTES", "HEADER_BYTES", "SHA1_BYTES", "SHA256_BYTES"],
  ...["EQUALS_AND_NUL_BYTES", "POINTER_BYTES", "PLURAL_AND_NEWLINES_CHARS", "MEANING_FIELDS_COUNT"],
  ...["UPTIME_STEP_MS", "OWN_PROCESSES_COUNT", "HIGH_FDS_MIN_LIMIT"],
  ...["FIELD_CHARS", "FREE_INPUT_CHARS", "SHORT_CHARS", "ARITHMETIC_SHARE"],
]);

const UNITS = "MS|SECONDS|BYTES|CHARS|COUNT|COLUMNS|DEPTH|WORDS|VALUES|DIRECTORIES|INSTRUCTIONS|SHARE";
const HAS_UNIT = new RegExp(`_(?:${UNITS})$`);
const IS_LIMIT_NAME = new RegExp(`${HAS_UNIT.source}|_(?:MAX|MIN)(?:_|$)`);
const IS_LIMIT_VARIABLE = /(?:Ms|Bytes|Chars|Count|Columns)$|^(?:pause|wait|delay|chars|bytes|count)$/;
const TAKES_DELAY = /(?:^|\.)(?:setTimeout|setInterval|sleep|within|afterMs|refillIn)$/;
const TAKES_BOUND = /\.slice$|^Math\.(?:min|max)$|^Buffer\.alloc/;

/** The limits in a source text, both named constants and bare numbers, as `file:line: text`. */
function limitsIn(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isNamedLimit(node) || isBareLimit(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${file}:${line + 1}: ${node.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isNamedLimit(node: ts.Node): boolean {
  if (!ts.isVariableDeclaration(node) || !node.initializer) return false;
  const name = node.name.getText();
  return (
    /^[A-Z\d_]+$/.test(name) &&
    IS_LIMIT_NAME.test(name) &&
    !NOT_LIMITS.has(name) &&
    isNumber(node.initializer)
  );
}

/** True if the expression contains a number. A name alone does not count. */
function isNumber(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) return isNumber(node.left) || isNumber(node.right);
  return ts.isNumericLiteral(node);
}

function isBareLimit(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) {
    const called = node.expression.getText();
    if (TAKES_DELAY.test(called)) return node.arguments.some((argument) => isAtLeast(argument, 1));
    return TAKES_BOUND.test(called) && node.arguments.some((argument) => isAtLeast(argument, 20));
  }
  if (ts.isBinaryExpression(node)) return isComparedSize(node.left, node) || isComparedSize(node.right, node);
  if (!ts.isVariableDeclaration(node) && !ts.isParameter(node) && !ts.isBindingElement(node)) return false;
  return IS_LIMIT_VARIABLE.test(node.name.getText()) && isAtLeast(node.initializer, 2);
}

/** `x.length > 512` and the like. */
function isComparedSize(side: ts.Node, { left, right, operatorToken }: ts.BinaryExpression): boolean {
  const other = side === left ? right : left;
  return (
    /^[<>]=?$/.test(operatorToken.getText()) &&
    /\.(?:length|size)$/.test(side.getText()) &&
    isAtLeast(other, 16)
  );
}

function isAtLeast(node: ts.Node | undefined, least: number): boolean {
  if (node && ts.isPrefixUnaryExpression(node)) return isAtLeast(node.operand, least);
  if (node && ts.isBinaryExpression(node)) return isAtLeast(node.left, 2) && isAtLeast(node.right, 2);
  // A hexadecimal number is a character code or a bit mask, not a limit.
  return (
    node !== undefined &&
    ts.isNumericLiteral(node) &&
    /^\d/.test(node.getText()) &&
    !/^0x/i.test(node.getText()) &&
    Number(node.text) >= least
  );
}

const sources = ts.sys.readDirectory(join(root, "src"), [".ts"]).map((path) => relative(root, path));
const textOf = (file: string) => readFileSync(join(root, file), "utf8");

test("no file outside support/limits/ defines a limit", () => {
  const others = sources.filter((file) => !file.startsWith(LIMITS));
  expect(others.length).toBeGreaterThan(300);
  expect(others.flatMap((file) => limitsIn(file, textOf(file)))).toEqual([]);
});

test("every limit names its unit", () => {
  const names = sources
    .filter((file) => file.startsWith(LIMITS))
    .flatMap((file) => [...textOf(file).matchAll(/^export const (\w+)/gm)].map(([, name = ""]) => name));
  expect(names.length).toBeGreaterThan(150);
  expect(names.filter((name) => !HAS_UNIT.test(name))).toEqual([]);
});

test.each([
  "const RETRY_MS = 1_000;",
  "export const LOG_MAX_BYTES = 64 * 1024;",
  "setTimeout(() => {}, 100);",
  "setTimeout(() => {\n  work();\n}, 5);",
  "await sleep(1);",
  "pool.refillIn(20);",
  "line.slice(0, 79);",
  "list.slice(-20);",
  "if (text.length > 512) stop();",
  "const buffer = Buffer.alloc(16 * 1024);",
  "const width = Math.min(columns, 120);",
  "for (let pause = 20; ; pause *= 2) work();",
  "const f = ({ maxColumns = 100 }) => maxColumns;",
])("a planted limit is found: %s", (planted) => {
  expect(limitsIn("planted.ts", planted)).toHaveLength(1);
});

test.each([
  "const FD = 6;",
  "const LIMIT_MS = OTHER_MS;",
  "sleep(WAIT_MS);",
  "text.slice(0, 2);",
  "a.length > 1;",
])("an ordinary number is not a limit: %s", (line) => {
  expect(limitsIn("ordinary.ts", line)).toEqual([]);
});
