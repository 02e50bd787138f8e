// Recognizes loops that count through a range so wide that the range covers every process ID.

import { forEachChild, type SyntaxNode } from "unbash";
import { POLICY_WIDE_RANGE_COUNT } from "../../support/limits.ts";
import type { Budget } from "./budget.ts";
import type { Scope } from "./script-scope.ts";

/** The variables that a condition compares with a large number. */
export function countedFar(nodes: readonly (SyntaxNode | undefined)[], budget: Budget): readonly string[] {
  const names = new Set<string>();
  let isFar = false;
  const stack = nodes.filter((node) => node !== undefined);
  for (let node = stack.pop(); node; node = stack.pop()) {
    budget.spend();
    if (node.type === "Word" || node.type === "ArithmeticWord") {
      const [, name, number] = NAME_OR_NUMBER.exec(node.value) ?? [];
      if (name !== undefined) names.add(name);
      if (number !== undefined && Number(number) >= POLICY_WIDE_RANGE_COUNT) isFar = true;
    } else forEachChild(node, (child) => stack.push(child));
  }
  return isFar ? [...names] : [];
}

/** Whether a variable is a counter: its first value is a number, unlike a PID that the script reads from somewhere. */
export function isCounter(name: string, scope: Scope): boolean {
  return scope.variable(name)?.values.every((value) => /^-?\d+$/.test(value)) ?? false;
}

const NAME_OR_NUMBER = /^\$?\{?(?:([A-Za-z_]\w*)\}?|(\d+))$/;
