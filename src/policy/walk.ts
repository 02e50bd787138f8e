// Walks the syntax tree in the order bash would run it and collects the effective commands. Branches are walked with
// their own scope and merged, nested texts are parsed and walked in place; nothing is ever run.

import {
  type AndOr,
  type Case,
  type Command,
  type CompoundList,
  type Coproc,
  type For,
  type Function as FunctionNode,
  forEachChild,
  type If,
  type ParsedScript,
  type Pipeline,
  type Redirected,
  type Select,
  type Statement,
  type SyntaxNode,
  type While,
} from "unbash";
import { POLICY_FOLDED_MAX_CHARS } from "../support/limits.ts";
import { checkArithmetic, checkTest } from "./arithmetic.ts";
import type { Budget } from "./budget.ts";
import type { Field, Runner, Surroundings } from "./command.ts";
import {
  type EffectiveCommand,
  type Flow,
  flowOf,
  joinOrigins,
  NO_FLOW,
  type Sign,
  type SignKind,
} from "./command.ts";
import { evaluateCommand, type Frame, readRedirections, writeFiles } from "./command-words.ts";
import { endlessForks, forkingFunctions, startsItself } from "./forks.ts";
import { UNKNOWN } from "./marks.ts";
import { parseText } from "./parse.ts";
import type { Where } from "./paths.ts";
import { runCommand } from "./run-command.ts";
import { Scope } from "./scope.ts";
import type { Span } from "./verdict.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateText, evaluateWord } from "./words.ts";

export class Walk implements Runner {
  readonly signs: Sign[] = [];
  readonly where: Where;
  readonly budget: Budget;
  readonly #functions = new Map<string, { node: FunctionNode; frame: Frame }>();
  readonly #calls = new Set<string>();
  readonly #active = new Set<string>();

  readonly #found: (command: EffectiveCommand) => void;

  /** Every effective command is handed to `found` at once: a long script leaves nothing behind in memory. */
  constructor(where: Where, budget: Budget, found: (command: EffectiveCommand) => void) {
    this.where = where;
    this.budget = budget;
    this.#found = found;
  }

  /** Walks the whole text. */
  start(text: string, cwd: string): void {
    const script = parseText(text);
    const scope = new Scope([cwd], new Map(), this.budget);
    const frame: Frame = { scope, stdin: NO_FLOW, via: [], fixed: null };
    if (NAMES_ITSELF.test(text) && startsItself(script)) this.#bomb({ start: 0, end: text.length });
    this.#script(script, frame);
    for (const [name, { node, frame: defined }] of this.#functions) {
      // A function that is only defined may be called by a later command of the session.
      if (!this.#calls.has(name)) this.#callBody(name, node, { ...defined, scope: defined.scope.fork() });
    }
    const nodes = new Map([...this.#functions].map(([name, { node }]) => [name, node]));
    for (const fork of forkingFunctions(nodes, this.budget)) {
      const frameOf = this.#functions.get(fork.name)?.frame ?? frame;
      const kind = fork.certain ? "fork-bomb" : "fork-maybe";
      this.sign(kind, spanOf(fork.node, frameOf), `the function ${fork.name} starts itself again and again`);
    }
  }

  runArgv(argv: readonly Field[], around: Surroundings): Flow {
    this.budget.spend();
    return this.budget.deeper(() => runCommand(argv, around, this));
  }

  runText(text: string, around: Surroundings): Flow {
    this.budget.spend(1 + text.length / 4);
    return this.budget.deeper(() => {
      const script = parseText(text);
      if (NAMES_ITSELF.test(text) && startsItself(script)) this.#bomb(around.span);
      const frame: Frame = { scope: around.scope, stdin: around.stdin, via: around.via, fixed: around.span };
      return this.#script(script, frame);
    });
  }

  /** Calls a function of the script, if there is one of that name. */
  callFunction(name: string, args: readonly string[], around: Surroundings): Flow | null {
    const node = around.scope.functionNamed(name);
    if (!node || this.#active.has(name)) return null;
    this.#calls.add(name);
    const { scope } = around;
    const before = scope.positional;
    scope.positional = args;
    const fixed = this.#functions.get(name)?.frame.fixed ?? null;
    const flow = this.#callBody(name, node, { scope, stdin: around.stdin, via: around.via, fixed });
    scope.positional = before;
    return flow;
  }

  emit(command: EffectiveCommand): void {
    this.#found(command);
  }

  sign(kind: SignKind, span: Span, detail: string): void {
    this.signs.push({ kind, span, detail });
  }

  #bomb(span: Span): void {
    this.sign("fork-bomb", span, "a script starts itself again and again");
  }

  #callBody(name: string, node: FunctionNode, frame: Frame): Flow {
    this.#active.add(name);
    const flow = this.budget.deeper(() => this.#node(node.body, frame));
    this.#active.delete(name);
    return flow;
  }

  #script(script: ParsedScript, frame: Frame): Flow {
    const [error] = script.errors ?? [];
    if (error) {
      const span = frame.fixed ?? { start: error.pos, end: script.end };
      this.sign("unparsed", span, error.message);
    }
    return this.#list(script.commands, frame);
  }

  #list(statements: readonly Statement[], frame: Frame): Flow {
    let text: string | null = "";
    let origins: Flow["origins"] = [];
    for (const statement of statements) {
      const flow = this.#statement(statement, frame);
      text = text === null || flow.text === null ? null : text + flow.text;
      if (text !== null && text.length > POLICY_FOLDED_MAX_CHARS) text = null;
      origins = joinOrigins(origins, flow.origins);
    }
    return flowOf(text, origins);
  }

  #statement(statement: Statement, frame: Frame): Flow {
    return this.#node(
      statement.command,
      statement.background ? { ...frame, scope: frame.scope.fork() } : frame,
    );
  }

  #node(node: SyntaxNode, frame: Frame): Flow {
    this.budget.spend();
    return this.budget.deeper(() => this.#kind(node, frame));
  }

  #kind(node: SyntaxNode, frame: Frame): Flow {
    switch (node.type) {
      case "Command":
        return this.#command(node, frame);
      case "Pipeline":
        return this.#pipeline(node, frame);
      case "AndOr":
        return this.#andOr(node, frame);
      case "CompoundList":
        return this.#list(node.commands, frame);
      case "BraceGroup":
        return this.#list(node.body.commands, frame);
      case "Subshell":
        return this.#list(node.body.commands, { ...frame, scope: frame.scope.fork() });
      case "Redirected":
        return this.#redirected(node, frame);
      case "Function":
        return this.#define(node, frame);
      default:
        return this.#compound(node, frame);
    }
  }

  #compound(node: SyntaxNode, frame: Frame): Flow {
    switch (node.type) {
      case "If":
        return this.#if(node, frame);
      case "For":
      case "Select":
        return this.#for(node, frame);
      case "While":
        return this.#while(node, frame);
      case "Case":
        return this.#case(node, frame);
      case "Coproc":
        return this.#coproc(node, frame);
      case "ArithmeticFor":
        for (const part of [node.initialize, node.test, node.update]) if (part) this.#inside(part, frame);
        if (!node.test && endlessForks(node.body)) {
          this.sign("fork-bomb", spanOf(node, frame), "an endless loop starts processes in the background");
        }
        return this.#loop(node.body, frame);
      default:
        this.#inside(node, frame);
        return flowOf("");
    }
  }

  #command(node: Command, frame: Frame): Flow {
    const context = this.#context(frame);
    const evaluated = evaluateCommand(node, frame, context);
    const { argvs, around } = evaluated;
    let flow: Flow | null = null;
    // Without a program the redirections still open their files.
    for (const argv of argvs.length > 0 ? argvs : [[]]) {
      const result = this.runArgv(argv, around);
      flow = flow === null ? result : flowOf(null, joinOrigins(flow.origins, result.origins));
    }
    return writeFiles(flow ?? flowOf(""), around, this.where);
  }

  #pipeline(node: Pipeline, frame: Frame): Flow {
    const [only] = node.commands;
    if (node.commands.length === 1 && only) return this.#node(only, frame);
    let flow = frame.stdin;
    for (const command of node.commands)
      flow = this.#node(command, { ...frame, scope: frame.scope.fork(), stdin: flow });
    return flow;
  }

  /** Each command runs only after the one before it: it sees what that one did, and later code may see either. */
  #andOr(node: AndOr, frame: Frame): Flow {
    const [first, ...rest] = node.commands;
    if (!first) return flowOf("");
    const flow = this.#node(first, frame);
    const ends: Scope[] = [];
    let scope = frame.scope;
    for (const command of rest) {
      scope = scope.fork();
      this.#node(command, { ...frame, scope });
      ends.push(scope);
    }
    for (const end of ends) frame.scope.merge(end);
    return rest.length === 0 ? flow : flowOf(null, flow.origins);
  }

  #redirected(node: Redirected, frame: Frame): Flow {
    const around = readRedirections(node, frame, this.#context(frame));
    this.runArgv([], around);
    const flow = this.#node(node.command, { ...frame, stdin: around.stdin });
    return writeFiles(flow, around, this.where);
  }

  #define(node: FunctionNode, frame: Frame): Flow {
    frame.scope.define(node.name.value, node);
    this.#functions.set(node.name.value, { node, frame: { ...frame, scope: frame.scope.fork() } });
    return flowOf("");
  }

  #if(node: If, frame: Frame): Flow {
    this.#node(node.clause, frame);
    const before = frame.scope.fork();
    const flows = [this.#branch(node.then, before, frame)];
    for (const { clause, then } of node.elif) {
      this.#branch(clause, before, frame);
      flows.push(this.#branch(then, before, frame));
    }
    if (node.else) flows.push(this.#branch(node.else, before, frame));
    return flowOf(null, joinOrigins(...flows.map(({ origins }) => origins)));
  }

  #branch(body: CompoundList, before: Scope, frame: Frame): Flow {
    const scope = before.fork();
    const flow = this.#node(body, { ...frame, scope });
    frame.scope.merge(scope);
    return flow;
  }

  #for(node: For | Select, frame: Frame): Flow {
    const context = this.#context(frame);
    const words = node.wordlist?.flatMap((word) => evaluateWord(word, context).alternatives.flat());
    frame.scope.assign(node.name.value, words ?? frame.scope.positional ?? [UNKNOWN]);
    return this.#loop(node.body, frame);
  }

  #while(node: While, frame: Frame): Flow {
    if (endlessForks(node.body, node)) {
      this.sign("fork-bomb", spanOf(node, frame), "an endless loop starts processes in the background");
    }
    this.#node(node.clause, frame);
    return this.#loop(node.body, frame);
  }

  /** A second round sees what the first one assigned. */
  #loop(body: CompoundList, frame: Frame): Flow {
    const before = frame.scope.fork();
    const flow = this.#branch(body, before, frame);
    if (!frame.scope.sameAs(before)) this.#branch(body, frame.scope.fork(), frame);
    return flowOf(null, flow.origins);
  }

  #case(node: Case, frame: Frame): Flow {
    const context = this.#context(frame);
    evaluateText(node.word, context);
    const before = frame.scope.fork();
    for (const { pattern, body } of node.items) {
      for (const word of pattern) evaluateText(word, context);
      this.#branch(body, before, frame);
    }
    return flowOf(null);
  }

  #coproc(node: Coproc, frame: Frame): Flow {
    return this.#node(node.body, { ...frame, scope: frame.scope.fork(), stdin: flowOf(null) });
  }

  /** Everything that runs inside an expression or a test. */
  #inside(root: SyntaxNode, frame: Frame): void {
    const context = this.#context(frame);
    const stack: SyntaxNode[] = [root];
    for (let node = stack.pop(); node; node = stack.pop()) {
      this.budget.spend();
      checkTest(node, (detail) => context.evaluated(detail));
      if (node.type === "Word") evaluateText(node, context);
      else if (node.type === "CommandExpansion" || node.type === "ArithmeticCommandExpansion") {
        this.#substitute(node, frame, frame.stdin);
      } else if (node.type === "ParameterExpansion") evaluateText(wordAround(node), context);
      else forEachChild(node, (child) => stack.push(child));
    }
    checkArithmetic(root, frame.scope, (detail) => context.evaluated(detail));
  }

  #substitute(part: Substitution, frame: Frame, stdin: Flow): Flow {
    // unbash parses a substitution when it is looked at, with everything nested in it: paid for beforehand.
    this.budget.spend(1 + part.text.length / 2);
    const { script } = part;
    const around = frame.fixed ?? frame.around ?? { start: part.pos, end: part.end };
    if (!script) {
      this.sign("unparsed", around, "a substitution cannot be read");
      return flowOf(null);
    }
    // The positions in a text that was unescaped first are of no use outside.
    const fixed = script.source === undefined ? frame.fixed : around;
    return this.budget.deeper(() =>
      this.#script(script, { ...frame, scope: frame.scope.fork(), stdin, fixed }),
    );
  }

  #context(frame: Frame): WordContext {
    return {
      scope: frame.scope,
      where: this.where,
      budget: this.budget,
      substitute: (part) => this.#substitute(part, frame, frame.stdin),
      connect: (part) => this.#substitute(part, frame, flowOf(null)),
      arithmetic: (part) => this.#inside(part, frame),
      evaluated: (detail) =>
        this.sign("evaluated-data", frame.fixed ?? frame.around ?? { start: 0, end: 0 }, detail),
    };
  }
}

const NAMES_ITSELF = /\$\{?(0|BASH_SOURCE)/;

type Substitution = Extract<
  SyntaxNode,
  { type: "CommandExpansion" | "ArithmeticCommandExpansion" | "ProcessSubstitution" }
>;

function wordAround(part: Extract<SyntaxNode, { type: "ParameterExpansion" }>) {
  return {
    type: "Word",
    text: part.text,
    value: part.text,
    pos: part.pos,
    end: part.end,
    parts: [part],
  } as const;
}

function spanOf(node: { readonly pos: number; readonly end: number }, frame: Frame): Span {
  return frame.fixed ?? { start: node.pos, end: node.end };
}
