// The words of one simple command, evaluated: assignments, redirections and arguments, ready to run.

import type {
  Assignment,
  Command,
  HereDoc,
  HereString,
  Redirected,
  Redirection as RedirectionNode,
  Word,
} from "unbash";
import { POLICY_ALTERNATIVES_MAX_COUNT, POLICY_FOLDED_MAX_CHARS } from "../support/limits.ts";
import type { AssignedValue, Field, Redirection, Surroundings } from "./command.ts";
import { type Flow, flowOf, joinOrigins, NO_FLOW, type Origin } from "./flow.ts";
import { UNKNOWN } from "./marks.ts";
import { changeDirectory, locate, type Where } from "./paths.ts";
import type { Scope } from "./scope.ts";
import type { Span } from "./span.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateQuoted, evaluateText, evaluateWord, isPlain, PLAIN_STEPS } from "./words.ts";

/** Where in the walk a command stands. */
export interface Frame {
  readonly scope: Scope;
  readonly stdin: Flow;
  readonly via: readonly string[];
  /** The span everything inside a nested text is reported at. */
  fixed: Span | null;
  /** The span of the command whose words are being evaluated. */
  around?: Span;
  /** Where the values of a loop's variable came from. */
  readonly carries?: readonly Origin[];
}

/** Where a node stands in the text that is judged. */
export function spanOf(node: { readonly pos: number; readonly end: number }, frame: Frame): Span {
  return frame.fixed ?? { start: node.pos, end: node.end };
}

export interface EvaluatedCommand {
  /** One argv for every program its name may stand for. */
  readonly argvs: readonly (readonly Field[])[];
  readonly around: Surroundings;
}

export function evaluateCommand(node: Command, frame: Frame, context: WordContext): EvaluatedCommand {
  const span = spanOf(node, frame);
  frame.around = span;
  const plain = plainArgv(node, frame, context);
  if (plain) return { argvs: [plain], around: bareAround(frame, span) };
  const seen: Origin[] = [...(frame.carries ?? [])];
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

function bareAround({ scope, stdin, via }: Frame, span: Span): Surroundings {
  return { scope, stdin, via, redirects: NOTHING, assignments: NOTHING, substituted: NOTHING, span };
}

/** The argv of a command that is nothing but plain words, as most lines of a long script are; null for any other. */
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
export function readRedirections(node: Redirected, frame: Frame, context: WordContext): Surroundings {
  const span = spanOf(node, frame);
  frame.around = span;
  const { redirects, stdin } = evaluateRedirections(node.redirects, frame, context);
  return { scope: frame.scope, stdin, via: frame.via, redirects, assignments: [], substituted: [], span };
}

/** Remembers what went into files; answers what is left for the pipe. */
export function writeFiles(flow: Flow, { redirects, scope }: Surroundings, where: Where): Flow {
  let left = flow;
  for (const { operator, descriptor, target } of redirects) {
    if (!/^(&?>>?|>\||>&)$/.test(operator) || (descriptor !== null && descriptor !== 1)) continue;
    if (/^(\d+|-)$/.test(target.text)) continue;
    for (const cwd of scope.cwds) {
      const { path, class: kind } = locate(target.text, cwd, where);
      if (kind === "unknown" || kind === "harmless-device") continue;
      const before = operator.endsWith(">>") ? scope.files.get(path) : undefined;
      scope.files.set(path, before ? appended(before, flow) : flow);
    }
    left = flowOf("");
  }
  return left;
}

function appended(before: Flow, after: Flow): Flow {
  const text = before.text === null || after.text === null ? null : before.text + after.text;
  return flowOf(
    text !== null && text.length > POLICY_FOLDED_MAX_CHARS ? null : text,
    joinOrigins(before.origins, after.origins),
  );
}

/** Notes the origins of everything that is substituted. */
export function watching(context: WordContext, seen: Origin[]): WordContext {
  return {
    ...context,
    substitute: (part) => {
      const flow = context.substitute(part);
      seen.push(...flow.origins);
      return flow;
    },
  };
}

/** unbash cuts `NAME=<(x) program` after the equals sign and takes `<(x)` for the program. */
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

/** Keeps a swallowed process substitution in the walk, as a file nobody reads. */
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
    // unbash splits `--file=<(x)` into two words that touch.
    const joins = word.pos === previous.end && word.pos !== word.end;
    const [head] = fields;
    const tail = joins ? args.pop() : undefined;
    if (tail && head) args.push({ ...tail, ...head, text: tail.text + head.text }, ...fields.slice(1));
    else args.push(...(tail ? [tail] : []), ...fields);
    previous = word;
  }
  return names.slice(0, POLICY_ALTERNATIVES_MAX_COUNT).map((name) => [...name, ...args]);
}

function fieldsOf(
  word: Word | Assignment,
  frame: Frame,
  context: WordContext,
): readonly (readonly Field[])[] {
  const span = spanOf(word, frame);
  if (word.type === "Assignment") {
    // Evaluated for what a subscript runs.
    if (word.index) evaluateText(word.index, context);
    const name = word.name + (word.append ? "+=" : "=");
    return valuesOf(word, context).map((value) => [{ text: name + value, span }]);
  }
  const { alternatives, flow } = evaluateWord(word, context);
  return alternatives.map((fields) => fields.map((text) => (flow ? { text, span, flow } : { text, span })));
}

/** What an assignment in front of a command gives to it; without a command it stays in the shell. */
function assignedValues(
  node: Assignment,
  stays: boolean,
  frame: Frame,
  context: WordContext,
): readonly AssignedValue[] {
  const span = spanOf(node, frame);
  const values = valuesOf(node, context);
  if (stays) assignTo(frame.scope, node, values, context);
  return values.map((value) => ({ name: node.name, value, span }));
}

function valuesOf(node: Assignment, context: WordContext): readonly string[] {
  if (node.value.type === "Word") return evaluateText(node.value, context);
  return node.value.elements.flatMap((word) => evaluateWord(word, context).alternatives.flat());
}

function assignTo(scope: Scope, node: Assignment, values: readonly string[], context: WordContext): void {
  // Evaluated for what a subscript runs.
  if (node.index) evaluateText(node.index, context);
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
  else scope.assign(node.name, values);
}

function evaluateRedirections(nodes: readonly RedirectionNode[], frame: Frame, context: WordContext) {
  const redirects: Redirection[] = [];
  let stdin = frame.stdin;
  for (const node of nodes) {
    if (node.type === "HereDoc") stdin = flowOf(bodyOf(node, context));
    else if (node.type === "HereString") stdin = hereString(node, context);
    else if (node.target) {
      const descriptor = node.descriptor?.type === "FileDescriptor" ? node.descriptor.value : null;
      const fields = fieldsOf(node.target, frame, context).flat();
      redirects.push(...fields.map((target) => ({ operator: node.operator, descriptor, target })));
      stdin = readFromThere(node.operator, fields[0], frame.scope) ?? stdin;
      keepSocket(descriptor, fields[0], frame.scope);
    }
  }
  return { redirects, stdin };
}

/** What stdin is after a redirection; null where it stays what it was. */
function readFromThere(operator: string, target: Field | undefined, scope: Scope): Flow | null {
  if (operator === "<" || operator === "<>") return readable(target, scope);
  return operator === "<&" ? (scope.files.get(`/dev/fd/${target?.text}`) ?? null) : null;
}

/** A socket that is kept open: what is read from it later is somebody else's. */
function keepSocket(descriptor: number | null, target: Field | undefined, scope: Scope): void {
  if (descriptor === null || descriptor < 3 || !/^\/dev\/(tcp|udp)\//.test(target?.text ?? "")) return;
  scope.files.set(`/dev/fd/${descriptor}`, flowOf(null, ["network", "socket"]));
}

function hereString(node: HereString, context: WordContext): Flow {
  const values = node.target ? evaluateText(node.target, context) : [UNKNOWN];
  return flowOf(values.length === 1 ? `${values[0] ?? ""}\n` : values.join("\n"));
}

function bodyOf(node: HereDoc, context: WordContext): string {
  return node.body.parts ? evaluateQuoted(node.body.parts, context) : node.body.text;
}

function readable(target: Field | undefined, scope: Scope): Flow {
  if (!target) return flowOf(null);
  if (target.flow) return target.flow;
  if (target.text === "/dev/null") return NO_FLOW;
  if (target.text.startsWith("/dev/tcp/")) return flowOf(null, ["network"]);
  const [cwd = UNKNOWN] = scope.cwds;
  return scope.files.get(changeDirectory(target.text, cwd)) ?? flowOf(null);
}
