// Branches and loops: each way is walked with a scope of its own, and what follows sees all of their ends.

import type { AndOr, Case, CompoundList, For, If, Select, SyntaxNode, While } from "unbash";
import type { SignKind } from "./command.ts";
import { type Frame, watching } from "./command-words.ts";
import { type Flow, flowOf, joinOrigins, type Origin } from "./flow.ts";
import { endlessForks } from "./forks.ts";
import { hasGlob, UNKNOWN } from "./marks.ts";
import type { Scope } from "./scope.ts";
import type { Span } from "./span.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateText, evaluateWord } from "./words.ts";

/** The walk, as seen from inside a compound command. */
export interface Walker {
  node(node: SyntaxNode, frame: Frame): Flow;
  context(frame: Frame): WordContext;
  sign(kind: SignKind, span: Span, detail: string): void;
}

/** Each command runs only after the one before it: it sees what that one did, and later code may see either. */
export function walkAndOr(node: AndOr, frame: Frame, walker: Walker): Flow {
  const [first, ...rest] = node.commands;
  if (!first) return flowOf("");
  const flow = walker.node(first, frame);
  const ends: Scope[] = [];
  let scope = frame.scope;
  for (const command of rest) {
    scope = scope.fork();
    walker.node(command, { ...frame, scope });
    ends.push(scope);
  }
  for (const end of ends) frame.scope.merge(end);
  return rest.length === 0 ? flow : flowOf(null, flow.origins);
}

export function walkIf(node: If, frame: Frame, walker: Walker): Flow {
  walker.node(node.clause, frame);
  const before = frame.scope.fork();
  const flows = [walkBranch(node.then, before, frame, walker)];
  for (const { clause, then } of node.elif) {
    walkBranch(clause, before, frame, walker);
    flows.push(walkBranch(then, before, frame, walker));
  }
  if (node.else) flows.push(walkBranch(node.else, before, frame, walker));
  return flowOf(null, joinOrigins(...flows.map(({ origins }) => origins)));
}

function walkBranch(body: CompoundList, before: Scope, frame: Frame, walker: Walker): Flow {
  const scope = before.fork();
  const flow = walker.node(body, { ...frame, scope });
  frame.scope.merge(scope);
  return flow;
}

export function walkFor(node: For | Select, frame: Frame, walker: Walker): Flow {
  const seen: Origin[] = [...(frame.carries ?? [])];
  const context = watching(walker.context(frame), seen);
  const words = node.wordlist?.flatMap((word) => evaluateWord(word, context).alternatives.flat());
  if (words?.some((word) => word.startsWith("/proc/") && hasGlob(word))) seen.push("processes");
  frame.scope.assign(node.name.value, words ?? frame.scope.positional ?? [UNKNOWN]);
  return walkLoop(node.body, seen.length > 0 ? { ...frame, carries: seen } : frame, walker);
}

export function walkWhile(node: While, frame: Frame, walker: Walker): Flow {
  if (endlessForks(node.body, node)) {
    walker.sign(
      "fork-bomb",
      frame.fixed ?? { start: node.pos, end: node.end },
      "an endless loop starts processes in the background",
    );
  }
  walker.node(node.clause, frame);
  return walkLoop(node.body, frame, walker);
}

/** A second round sees what the first one assigned. */
export function walkLoop(body: CompoundList, frame: Frame, walker: Walker): Flow {
  const before = frame.scope.fork();
  const flow = walkBranch(body, before, frame, walker);
  if (!frame.scope.sameAs(before)) walkBranch(body, frame.scope.fork(), frame, walker);
  return flowOf(null, flow.origins);
}

export function walkCase(node: Case, frame: Frame, walker: Walker): Flow {
  const context = walker.context(frame);
  evaluateText(node.word, context);
  const before = frame.scope.fork();
  for (const { pattern, body } of node.items) {
    for (const word of pattern) evaluateText(word, context);
    walkBranch(body, before, frame, walker);
  }
  return flowOf(null);
}
