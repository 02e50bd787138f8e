// Recognizes fork bombs: functions that start themselves in parallel, and endless loops that never wait for the
// processes they start.

import {
  type CompoundList,
  type Function as FunctionNode,
  forEachChild,
  type SyntaxNode,
  type While,
} from "unbash";
import type { Budget } from "./budget.ts";

export interface ForkingFunction {
  readonly name: string;
  readonly node: FunctionNode;
  /** Whether no condition guards the recursive call. */
  readonly isCertain: boolean;
}

interface Call {
  readonly callee: string;
  readonly inBackground: boolean;
  readonly isPiped: boolean;
  /** Whether the call is in a subshell or a substitution. */
  readonly isNested: boolean;
  readonly isConditional: boolean;
}

export function forkingFunctions(
  functions: ReadonlyMap<string, FunctionNode>,
  budget: Budget,
): readonly ForkingFunction[] {
  const calls = new Map([...functions].map(([name, node]) => [name, callsIn(node.body, functions, budget)]));
  const found: ForkingFunction[] = [];
  for (const [name, node] of functions) {
    const own = calls.get(name) ?? [];
    const back = own.filter(({ callee }) => reaches(callee, name, calls));
    const isCertain = back.some(
      (call) => !call.isConditional && (call.inBackground || call.isPiped || call.isNested),
    );
    const isPossible =
      back.some((call) => call.inBackground) || back.filter((call) => call.isPiped).length > 1;
    if (isCertain || isPossible) found.push({ name, node, isCertain });
  }
  return found;
}

/** Whether a script starts itself in parallel: `$0 & $0 &`. */
export function startsItself(script: SyntaxNode): boolean {
  let found = false;
  visit(script, (node, place) => {
    if (node.type !== "Command" || !(place.inBackground || place.isPiped)) return;
    const [first] = node.args;
    const words = [node.name?.text ?? "", first?.text ?? ""];
    if (SELF.test(words[0] ?? "") || (/^(ba|da|z)?sh$/.test(words[0] ?? "") && SELF.test(words[1] ?? "")))
      found = true;
  });
  return found;
}

const SELF = /^"?\$\{?(0|BASH_SOURCE(\[0\])?)\}?"?$/;

/** Whether an endless loop starts processes and never waits for them. */
export function endlessForks(body: CompoundList, loop?: While): boolean {
  if (loop && !isEndless(loop)) return false;
  let starts = false;
  let waits = false;
  visit(body, (node, place) => {
    if (node.type === "Statement" && node.background) starts = true;
    if (node.type === "Command" && WAITING.test(node.name?.value ?? "") && !place.inBackground) waits = true;
  });
  return starts && !waits;
}

const WAITING = /^(wait|sleep|read|break|exit|return|inotifywait|fg|tail|timeout)$/;

function isEndless({ clause, kind }: While): boolean {
  const [only] = clause.commands;
  if (clause.commands.length !== 1 || !only) return false;
  const { command } = only;
  if (command.type === "ArithmeticCommand") return /^\s*1\s*$/.test(command.body) === (kind === "while");
  if (command.type !== "Command") return false;
  const words = [
    command.name?.value ?? "",
    ...command.args.map((arg) => (arg.type === "Word" ? arg.value : "")),
  ];
  return kind === "while"
    ? /^(:|true|\/bin\/true|\[ 1 \]|test 1|\[ true \])$/.test(words.join(" "))
    : words[0] === "false";
}

function reaches(from: string, goal: string, calls: ReadonlyMap<string, readonly Call[]>): boolean {
  const seen = new Set<string>();
  const stack = [from];
  for (let name = stack.pop(); name !== undefined; name = stack.pop()) {
    if (name === goal) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    for (const { callee } of calls.get(name) ?? []) stack.push(callee);
  }
  return false;
}

function callsIn(body: SyntaxNode, functions: ReadonlyMap<string, unknown>, budget: Budget): readonly Call[] {
  const calls: Call[] = [];
  visit(
    body,
    (node, place) => {
      budget.spend();
      const callee = node.type === "Command" ? (node.name?.value ?? "") : "";
      if (functions.has(callee)) calls.push({ callee, ...place });
    },
    budget,
  );
  return calls;
}

type Position = Omit<Call, "callee">;

function visit(root: SyntaxNode, onNode: (node: SyntaxNode, place: Position) => void, budget?: Budget): void {
  const stack: { readonly node: SyntaxNode; readonly place: Position }[] = [{ node: root, place: AT_FIRST }];
  for (let item = stack.pop(); item; item = stack.pop()) {
    const { node, place } = item;
    onNode(node, place);
    if (!isEntered(node, budget)) continue;
    if (node.type === "AndOr") {
      for (const [i, child] of node.commands.entries()) {
        stack.push({ node: child, place: i === 0 ? place : { ...place, isConditional: true } });
      }
      continue;
    }
    const inner = positionInside(node, place);
    forEachChild(node, (child) => {
      stack.push({ node: child, place: inner });
    });
  }
}

/**
 * Whether to look inside the node. Looks inside words only if there is a budget to charge, because unbash parses the
 * content of a word on access.
 */
function isEntered(node: SyntaxNode, budget: Budget | undefined): boolean {
  if (node.type === "Word" || node.type === "Assignment" || node.type === "HereDocBody")
    return budget !== undefined;
  if (node.type === "CommandExpansion" || node.type === "ProcessSubstitution")
    budget?.spend(node.text.length / 2);
  return true;
}

const AT_FIRST: Position = { inBackground: false, isPiped: false, isNested: false, isConditional: false };

function positionInside(node: SyntaxNode, place: Position): Position {
  switch (node.type) {
    case "Statement":
      return node.background ? { ...place, inBackground: true } : place;
    case "Coproc":
      return { ...place, inBackground: true };
    case "Pipeline":
      return node.commands.length > 1 ? { ...place, isPiped: true } : place;
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "Subshell":
      return { ...place, isNested: true };
    case "If":
    case "Case":
    case "For":
    case "While":
      return { ...place, isConditional: true };
    default:
      return place;
  }
}
