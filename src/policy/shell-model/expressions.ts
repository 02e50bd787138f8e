// Expressions and tests: `((…))`, `[[ … ]]` and the parts of `for ((…))`. They run the substitutions inside them.

import { forEachChild, type SyntaxNode } from "unbash";
import { checkArithmetic, checkTest } from "./arithmetic.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateQuoted, evaluateText } from "./words.ts";

/** Walks everything that runs inside an expression or a test. */
export function walkExpression(root: SyntaxNode, context: WordContext): void {
  const stack: SyntaxNode[] = [root];
  for (let node = stack.pop(); node; node = stack.pop()) {
    context.budget.spend();
    checkTest(node, (detail) => context.evaluated(detail));
    if (node.type === "Word") evaluateText(node, context);
    else if (node.type === "CommandExpansion" || node.type === "ArithmeticCommandExpansion") {
      context.substitute(node);
    } else if (node.type === "ParameterExpansion") evaluateQuoted([node], context);
    else forEachChild(node, (child) => stack.push(child));
  }
  checkArithmetic(root, context);
}
