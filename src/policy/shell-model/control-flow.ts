// Branches and loops. Each branch has its own scope, and the code after the branches sees the result of each of them.

import type { AndOr, ArithmeticFor, Case, CompoundList, For, If, Select, SyntaxNode, While } from "unbash";
import { POLICY_PRINTED_MAX_CHARS } from "../../support/limits.ts";
import type { Budget } from "./budget.ts";
import type { SignKind } from "./command.ts";
import { watching } from "./command-words.ts";
import { countedFar, isCounter } from "./counting.ts";
import type { Directories } from "./directories.ts";
import type { Frame } from "./fields.ts";
import { type DataOrigin, type Flow, flowOf, joinOrigins } from "./flow.ts";
import { endlessForks } from "./forks.ts";
import { EACH, hasGlob, UNKNOWN } from "./marks.ts";
import type { Scope } from "./script-scope.ts";
import type { Span } from "./span.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateText, evaluateWord } from "./words.ts";

/** The part of the walk that compound commands use. */
export interface Walker {
  node(node: SyntaxNode, frame: Frame): Flow;
  readonly budget: Budget;
  context(frame: Frame): WordContext;
  sign(kind: SignKind, span: Span, detail: string): void;
}

/**
 * Each command starts in the state after the previous one. Code after the list may start in the state after any of
 * them.
 */
export function walkAndOr(node: AndOr, frame: Frame, walker: Walker): Flow {
  const [first, ...rest] = node.commands;
  if (!first) return flowOf("");
  const flow = walker.node(first, rest.length > 0 ? { ...frame, isTested: true } : frame);
  const ends: Scope[] = [];
  const list = new ListDirectories();
  // If every command runs, the list prints all their output: `$(cd / && pwd)`.
  let { origins } = flow;
  let text = node.operators.every((operator) => operator === "&&") ? flow.text : null;
  let scope = frame.scope;
  for (const [i, command] of rest.entries()) {
    const reached = list.beforeNext(node.operators[i] ?? "&&", scope);
    scope = scope.fork();
    if (reached) scope.directories = reached;
    const isLast = i === rest.length - 1;
    const next = walker.node(command, { ...frame, scope, isTested: frame.isTested === true || !isLast });
    text =
      text === null || next.text === null || text.length > POLICY_PRINTED_MAX_CHARS ? null : text + next.text;
    origins = joinOrigins(origins, next.origins);
    ends.push(scope);
  }
  if (rest.length === 0) return flow;
  for (const end of ends) frame.scope.merge(end);
  frame.scope.directories = list.end(scope) ?? frame.scope.directories;
  return flowOf(text, origins);
}

/** Tracks the directories in which a list of `&&` and `||` may continue, even if the next command is skipped. */
class ListDirectories {
  #failed: Directories | null = null;
  #passed: Directories | null = null;

  /** The directories in which the command after the operator may run; null if it never runs. */
  beforeNext(operator: string, { ended, directories }: Scope): Directories | null {
    const here = ended === null ? directories : null;
    const [succeeded, failed] = [here?.succeeded() ?? null, here?.failed() ?? null];
    if (operator === "&&") {
      const reached = joined(succeeded, this.#passed);
      this.#passed = null;
      this.#failed = joined(this.#failed, failed);
      return reached;
    }
    const reached = joined(failed, this.#failed);
    this.#failed = null;
    this.#passed = joined(this.#passed, succeeded);
    return reached;
  }

  /**
   * The directories after the list. A failure of a command before the last one does not end the shell, even with
   * `set -e`.
   */
  end({ ended, directories }: Scope): Directories | null {
    const skipped = joined(this.#passed, this.#failed);
    return joined(ended === null ? directories : null, skipped);
  }
}

function joined(a: Directories | null, b: Directories | null): Directories | null {
  return a && b ? a.with(b) : (a ?? b);
}

export function walkIf(node: If, frame: Frame, walker: Walker): Flow {
  walker.node(node.clause, { ...frame, isTested: true });
  const met = frame.scope.fork();
  met.directories = met.directories.succeeded();
  const unmet = frame.scope.fork();
  unmet.directories = unmet.directories.failed();
  let end: Directories | null = node.else ? null : unmet.directories;
  const walk = (body: CompoundList, before: Scope): Flow => {
    const { scope, flow } = walkBranch(body, before, frame, walker);
    if (scope.ended === null) end = joined(end, scope.directories);
    return flow;
  };
  const flows = [walk(node.then, met)];
  for (const { clause, then } of node.elif) {
    walkBranch(clause, unmet, { ...frame, isTested: true }, walker);
    flows.push(walk(then, unmet));
  }
  if (node.else) flows.push(walk(node.else, unmet));
  frame.scope.directories = end ?? frame.scope.directories;
  return flowOf(null, joinOrigins(...flows.map(({ origins }) => origins)));
}

function walkBranch(
  body: CompoundList,
  before: Scope,
  frame: Frame,
  walker: Walker,
): { readonly scope: Scope; readonly flow: Flow } {
  const scope = before.fork();
  const flow = walker.node(body, { ...frame, scope });
  frame.scope.merge(scope);
  return { scope, flow };
}

export function walkFor(node: For | Select, frame: Frame, walker: Walker): Flow {
  const seen: DataOrigin[] = [...(frame.carries ?? [])];
  const context = watching(walker.context(frame), seen);
  const words = node.wordlist?.flatMap((word) => evaluateWord(word, context).alternatives.flat());
  if (words?.some((word) => word.startsWith("/proc/") && hasGlob(word))) seen.push("processes");
  if (words?.some((word) => word.includes(EACH)) && endlessForks(node.body)) {
    const span = frame.fixed ?? { start: node.pos, end: node.end };
    walker.sign("fork-maybe", span, "a long loop starts processes in the background");
  }
  frame.scope.assign(node.name.value, words ?? frame.scope.positional ?? [UNKNOWN]);
  return walkLoop(node.body, seen.length > 0 ? { ...frame, carries: seen } : frame, walker);
}

export function walkArithmeticFor(node: ArithmeticFor, frame: Frame, walker: Walker): Flow {
  const counters = countedFar([node.initialize, node.test], walker.budget);
  const span = frame.fixed ?? { start: node.pos, end: node.end };
  if ((!node.test || counters.length > 0) && endlessForks(node.body)) {
    if (node.test) walker.sign("fork-maybe", span, "a long loop starts processes in the background");
    else walker.sign("fork-bomb", span, "an endless loop starts processes in the background");
  }
  for (const name of counters) frame.scope.assign(name, [EACH]);
  return walkLoop(node.body, frame, walker);
}

export function walkWhile(node: While, frame: Frame, walker: Walker): Flow {
  if (endlessForks(node.body, node)) {
    walker.sign(
      "fork-bomb",
      frame.fixed ?? { start: node.pos, end: node.end },
      "an endless loop starts processes in the background",
    );
  }
  walker.node(node.clause, { ...frame, isTested: true });
  const counters = countedFar([node.clause], walker.budget).filter((name) => isCounter(name, frame.scope));
  for (const name of counters) frame.scope.assign(name, [EACH]);
  return walkLoop(node.body, frame, walker);
}

/** Walks a second iteration if the first one changed the scope. */
function walkLoop(body: CompoundList, frame: Frame, walker: Walker): Flow {
  const before = frame.scope.fork();
  const { flow } = walkBranch(body, before, frame, walker);
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
