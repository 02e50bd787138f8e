// Arithmetic evaluates the values of its variables and subscripts once more, commands in them included. What unbash
// cannot show of that (quotes, subscripts, values that hold commands) is found in the text.

import type { SyntaxNode } from "unbash";
import type { Scope } from "./scope.ts";

export function checkArithmetic(node: SyntaxNode, scope: Scope, evaluated: (detail: string) => void): void {
  const text =
    "text" in node && typeof node.text === "string"
      ? node.text
      : "body" in node && typeof node.body === "string"
        ? node.body
        : "";
  if (text === "") return;
  if (/^\$\[/.test(text) ? /['"`[]|\$\(/.test(text.slice(2)) : QUOTED_SUBSCRIPT.test(text)) {
    evaluated("arithmetic evaluates a quoted or subscripted text as code");
    return;
  }
  for (const [name] of text.slice(0, SCANNED_MAX_CHARS).matchAll(/[A-Za-z_]\w*/g)) {
    if (scope.variable(name)?.values.some((value) => COMMAND_IN_VALUE.test(value))) {
      evaluated(`arithmetic evaluates the command inside ${name}`);
      return;
    }
  }
}

/** `[[ -v name ]]` and `[[ a -eq b ]]` evaluate their operands, too. */
export function checkTest(node: SyntaxNode, evaluated: (detail: string) => void): void {
  const words = node.type === "TestUnary" && node.operator === "-v" ? [node.operand] : numeric(node);
  if (words.some(({ value }) => COMMAND_IN_VALUE.test(value))) evaluated("a test evaluates a subscript");
}

function numeric(node: SyntaxNode) {
  return node.type === "TestBinary" && /^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)
    ? [node.left, node.right]
    : [];
}

const SCANNED_MAX_CHARS = 4_096;
const QUOTED_SUBSCRIPT = /'|\[[^\]]{0,256}(\$\(|`)/;
/** What a subscript or an arithmetic value would run. */
export const COMMAND_IN_VALUE = /\[[^\]]{0,256}(\$\(|`)/;
