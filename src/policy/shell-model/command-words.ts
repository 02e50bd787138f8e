// The words of one simple command, evaluated: assignments, redirections and arguments, ready to run.

import type { Assignment, Command, Redirected, Redirection as RedirectionNode, Word } from "unbash";
import { POLICY_ALTERNATIVES_MAX_COUNT } from "../../support/limits.ts";
import type { AssignedValue, CommandContext, Field } from "./command.ts";
import { type Frame, fieldsOf, fieldValues, spanOf } from "./fields.ts";
import type { DataOrigin } from "./flow.ts";
import { UNKNOWN } from "./marks.ts";
import { evaluateRedirections } from "./redirections.ts";
import type { Scope } from "./script-scope.ts";
import type { Span } from "./span.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateText, isPlain, PLAIN_STEPS } from "./words.ts";

export interface EvaluatedCommand {
  /** One argv for each program that the name may mean. */
  readonly argvs: readonly (readonly Field[])[];
  readonly around: CommandContext;
}

export function evaluateCommand(node: Command, frame: Frame, context: WordContext): EvaluatedCommand {
  const span = spanOf(node, frame);
  frame.around = span;
  const plain = plainArgv(node, frame, context);
  if (plain) return { argvs: [plain], around: bareAround(frame, span) };
  const seen: DataOrigin[] = [...(frame.carries ?? [])];
  const watched = watching(context, seen);
  const { assigned, words, redirections } = sorted(node);
  context.budget.spend(2 * (1 + redirections.length));
  const argvs = evaluateArgvs(words, frame, watched);
  const { redirects, stdin } = evaluateRedirections(redirections, frame, watched);
  const stays = argvs.every((argv) => argv.length === 0);
  const assignments = assigned.flatMap((one) => assignedValues(one, stays, frame, watched));
  const around = {
    scope: frame.scope,
    stdin,
    via: frame.via,
    redirects,
    assignments,
    substituted: seen,
    span,
  };
  return { argvs, around };
}

const NOTHING: readonly never[] = [];

function bareAround({ scope, stdin, via }: Frame, span: Span): CommandContext {
  return { scope, stdin, via, redirects: NOTHING, assignments: NOTHING, substituted: NOTHING, span };
}

/**
 * The argv of a command that has only plain words. Most lines of a long script are such commands. Null for other
 * commands.
 */
function plainArgv(node: Command, frame: Frame, { budget }: WordContext): readonly Field[] | null {
  const { name, prefix, suffix } = node;
  if (!name || prefix.length > 0 || !isPlain(name.text)) return null;
  if (!suffix.every((item) => item.type === "Word" && isPlain(item.text))) return null;
  const argv: Field[] = [{ text: name.text, span: spanOf(name, frame) }];
  for (const item of suffix) {
    if (item.type !== "Word") continue;
    argv.push({ text: item.text, span: spanOf(item, frame) });
  }
  budget.spend(argv.length * PLAIN_STEPS);
  return argv;
}

/** The redirections of a compound command. */
export function readRedirections(node: Redirected, frame: Frame, context: WordContext): CommandContext {
  const span = spanOf(node, frame);
  frame.around = span;
  const { redirects, stdin } = evaluateRedirections(node.redirects, frame, context);
  return { scope: frame.scope, stdin, via: frame.via, redirects, assignments: [], substituted: [], span };
}

/** A context that also collects the origins of all substituted values. */
export function watching(context: WordContext, seen: DataOrigin[]): WordContext {
  return {
    ...context,
    substitute: (part) => {
      const flow = context.substitute(part);
      seen.push(...flow.origins);
      return flow;
    },
    carry: (origins) => {
      seen.push(...origins);
    },
  };
}

/**
 * Separates assignments, redirections and words. unbash splits `NAME=<(x) program` after the equals sign and parses
 * `<(x)` as the program: this function corrects that.
 */
function sorted(node: Command) {
  const assigned: Assignment[] = [];
  const redirections: RedirectionNode[] = [];
  const words: (Word | Assignment)[] = [];
  for (const item of node.prefix) {
    if (item.type === "Assignment") assigned.push(item);
    else redirections.push(item);
  }
  const last = assigned.at(-1);
  const swallowed = node.name !== undefined && last?.end === node.name.pos && /^[<>]\(/.test(node.name.text);
  if (node.name) words.push(node.name);
  for (const item of node.suffix) {
    if (item.type === "Word" || item.type === "Assignment") words.push(item);
    else redirections.push(item);
  }
  if (swallowed) words.shift();
  return {
    assigned,
    words,
    redirections: swallowed && node.name ? [...redirections, readFrom(node.name)] : redirections,
  };
}

/**
 * Turns the misparsed process substitution into a redirection, so that the walk still covers the substitution. The
 * redirection does not change what the command reads.
 */
function readFrom(target: Word): RedirectionNode {
  return {
    type: "Redirect",
    pos: target.pos,
    end: target.end,
    operator: "<&",
    descriptor: undefined,
    target,
  };
}

function evaluateArgvs(words: readonly (Word | Assignment)[], frame: Frame, context: WordContext) {
  const [first] = words;
  if (!first) return [];
  const names = fieldsOf(first, frame, context);
  const args: Field[] = [];
  let previous: Word | Assignment = first;
  for (const word of words) {
    if (word === first) continue;
    if (word.pos !== previous.end && word.type === "Word" && isPlain(word.text)) {
      context.budget.spend(PLAIN_STEPS);
      args.push({ text: word.text, span: spanOf(word, frame) });
      previous = word;
      continue;
    }
    const fields = fieldsOf(word, frame, context).flat();
    // unbash splits `--file=<(x)` into two words without a space between them.
    const joins = word.pos === previous.end && word.pos !== word.end;
    const [head] = fields;
    const tail = joins ? args.pop() : undefined;
    if (tail && head) args.push({ ...tail, ...head, text: tail.text + head.text }, ...fields.slice(1));
    else args.push(...(tail ? [tail] : []), ...fields);
    previous = word;
  }
  return names.slice(0, POLICY_ALTERNATIVES_MAX_COUNT).map((name) => [...name, ...args]);
}

/** The values that an assignment passes to its command. If there is no command, the variable keeps these values. */
function assignedValues(
  node: Assignment,
  stays: boolean,
  frame: Frame,
  context: WordContext,
): readonly AssignedValue[] {
  const span = spanOf(node, frame);
  if (!stays) return fieldValues(node, context).map((value) => ({ name: node.name, value, span }));
  const origins: DataOrigin[] = [];
  const values = fieldValues(node, watching(context, origins));
  assignTo(frame.scope, node, { values, origins }, context);
  return values.map((value) => ({ name: node.name, value, span }));
}

interface Assigned {
  readonly values: readonly string[];
  readonly origins: readonly DataOrigin[];
}

function assignTo(scope: Scope, node: Assignment, { values, origins }: Assigned, context: WordContext): void {
  // A subscript can run commands.
  if (node.index) evaluateText(node.index, context);
  // In these arrays bash stores the paths of programs and the texts of aliases.
  if (/^BASH_(CMDS|ALIASES)$/.test(node.name)) context.evaluated("it changes which program a name runs");
  const before = scope.variable(node.name);
  if (node.value.type === "ArrayValue") {
    scope.assign(node.name, values, node.append ? [...(before?.elements ?? []), ...values] : values);
  } else if (node.append) {
    const heads = before?.values ?? [UNKNOWN];
    scope.assign(
      node.name,
      heads.flatMap((head) => values.map((value) => head + value)),
    );
  } else if (node.index)
    scope.assign(node.name, [UNKNOWN, ...values], [...(before?.elements ?? []), ...values]);
  else scope.assign(node.name, values, null, origins);
}
