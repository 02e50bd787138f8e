// In arithmetic, bash evaluates the values of variables and subscripts again, including commands in them. unbash does
// not parse quotes and subscripts there, so this file searches their text.

import type { ArithmeticExpansionPart, ArithmeticExpression, SyntaxNode } from "unbash";
import {
  POLICY_ARITHMETIC_FOLDED_MAX_CHARS,
  POLICY_ARITHMETIC_SCANNED_MAX_CHARS,
} from "../../support/limits.ts";
import { EACH, SOMETHING } from "./marks.ts";
import type { Scope } from "./script-scope.ts";
import type { WordContext } from "./word-context.ts";

export function checkArithmetic(node: SyntaxNode, context: WordContext): void {
  const { scope, budget } = context;
  const text =
    "text" in node && typeof node.text === "string"
      ? node.text
      : "body" in node && typeof node.body === "string"
        ? node.body
        : "";
  if (text === "") return;
  if (/^\$\[/.test(text) ? /['"`[]|\$\(/.test(text.slice(2)) : QUOTED_SUBSCRIPT.test(text)) {
    context.evaluated("arithmetic evaluates quotes and subscripts as code");
    return;
  }
  for (const [name] of text.slice(0, POLICY_ARITHMETIC_SCANNED_MAX_CHARS).matchAll(/[A-Za-z_]\w*/g)) {
    const values = scope.variable(name)?.values ?? [];
    for (const value of values) budget.spend(value.length / VALUE_CHARS_PER_STEP);
    if (values.some((value) => COMMAND_IN_VALUE.test(value))) {
      context.evaluated(`arithmetic evaluates the command inside ${name}`);
      return;
    }
  }
}

/** `[[ -v name ]]` and `[[ a -eq b ]]` also evaluate their operands. */
export function checkTest(node: SyntaxNode, evaluated: (detail: string) => void): void {
  const words = node.type === "TestUnary" && node.operator === "-v" ? [node.operand] : numeric(node);
  if (words.some(({ value }) => COMMAND_IN_VALUE.test(value))) evaluated("a test evaluates a subscript");
}

function numeric(node: SyntaxNode) {
  return node.type === "TestBinary" && /^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)
    ? [node.left, node.right]
    : [];
}

/** The number of characters that one step searches for commands. */
const VALUE_CHARS_PER_STEP = 12;
// The pattern stops at the next bracket, where another match can start. Scanning past that bracket would take
// quadratic time.
const QUOTED_SUBSCRIPT = /'|\[[^\][]{0,256}(\$\(|`)/;
/** A command inside a subscript. */
export const COMMAND_IN_VALUE = /\[[^\][]{0,256}(\$\(|`)/;

/** The result of an expansion, if it is constant. Otherwise a mark: an unknown number, or EACH for a wide range. */
export function numberOf({ text, expression }: ArithmeticExpansionPart, scope: Scope): string {
  if (text.length > POLICY_ARITHMETIC_FOLDED_MAX_CHARS) return SOMETHING;
  for (const [name] of text.matchAll(/[A-Za-z_]\w*/g))
    if (scope.variable(name)?.values.some((value) => value.includes(EACH))) return EACH;
  const value = expression ? constant(expression, scope) : null;
  return value === null || !Number.isSafeInteger(value) ? SOMETHING : String(value);
}

function constant(node: ArithmeticExpression, scope: Scope): number | null {
  if (node.type === "ArithmeticGroup") return constant(node.expression, scope);
  if (node.type === "ArithmeticWord") return wordValue(node.value, scope);
  if (node.type === "ArithmeticUnary") {
    const operand = constant(node.operand, scope);
    return operand !== null && node.operator === "-" ? -operand : null;
  }
  if (node.type !== "ArithmeticBinary") return null;
  const left = constant(node.left, scope);
  const right = constant(node.right, scope);
  if (left === null || right === null) return null;
  if (node.operator === "+") return left + right;
  if (node.operator === "-") return left - right;
  return node.operator === "*" ? left * right : null;
}

function wordValue(text: string, scope: Scope): number | null {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  const [, name = ""] = /^\$?\{?([A-Za-z_]\w*)\}?$/.exec(text) ?? [];
  const [value = "", ...others] = scope.variable(name)?.values ?? [];
  return others.length === 0 && /^-?(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : null;
}
