// Walks the syntax tree in the order bash would run it and collects the effective commands. Each branch has its own
// scope, which is merged afterwards. Nested texts are parsed and walked where they occur. Nothing is ever run.

import type {
  Command,
  Coproc,
  Function as FunctionNode,
  ParsedScript,
  Pipeline,
  Redirected,
  Statement,
  SyntaxNode,
} from "unbash";
import type { Where } from "../paths/paths.ts";
import type { PolicyFacts, Profile } from "../verdict.ts";
import type { Budget } from "./budget.ts";
import type { CommandContext, EffectiveCommand, Field, Runner, Sign, SignKind } from "./command.ts";
import { evaluateCommand, readRedirections } from "./command-words.ts";
import { walkAndOr, walkArithmeticFor, walkCase, walkFor, walkIf, walkWhile } from "./control-flow.ts";
import { walkExpression } from "./expressions.ts";
import { type Frame, spanOf } from "./fields.ts";
import { type Flow, flowOf, joinOrigins, NO_FLOW } from "./flow.ts";
import { forkingFunctions, startsItself } from "./forks.ts";
import { inputSteps } from "./input-steps.ts";
import { ListOutput } from "./list-output.ts";
import { parseText } from "./parse.ts";
import { writeFiles } from "./redirections.ts";
import { runCommand } from "./run-command.ts";
import { startScope } from "./session-scope.ts";
import { lookAheadSteps } from "./slow-text.ts";
import type { Span } from "./span.ts";
import type { Substitution, WordContext } from "./word-context.ts";

export class Walk implements Runner {
  readonly signs: Sign[] = [];
  readonly where: Where;
  readonly profile: Profile;
  readonly isSandboxed: boolean;
  readonly budget: Budget;
  readonly #functions = new Map<string, { node: FunctionNode; frame: Frame }>();
  readonly #calls = new Set<string>();
  readonly #active = new Set<string>();

  readonly #facts: PolicyFacts;
  readonly #found: (command: EffectiveCommand) => void;
  /** The context that was created last: all commands of a list share one context. */
  #context: { readonly frame: Frame; readonly words: WordContext } | null = null;

  /** @param found Receives each effective command at once: a list of all commands could fill the memory. */
  constructor(facts: PolicyFacts, where: Where, budget: Budget, found: (command: EffectiveCommand) => void) {
    this.where = where;
    this.profile = facts.profile ?? "standard";
    this.isSandboxed = facts.sandboxed === true;
    this.#facts = facts;
    this.budget = budget;
    this.#found = found;
  }

  /** Walks the whole text. */
  start(text: string): void {
    const script = this.#parse(text, { start: 0, end: text.length });
    const scope = startScope(this.#facts, this.where, this.budget);
    const frame: Frame = { scope, stdin: NO_FLOW, via: [], fixed: null };
    this.#script(script, frame);
    for (const [name, { node, frame: defined }] of this.#functions) {
      // A later command of the session may call a function that this text only defines.
      if (!this.#calls.has(name)) this.#callBody(name, node, { ...defined, scope: defined.scope.fork() });
    }
    const nodes = new Map([...this.#functions].map(([name, { node }]) => [name, node]));
    for (const fork of forkingFunctions(nodes, this.budget)) {
      const frameOf = this.#functions.get(fork.name)?.frame ?? frame;
      const kind = fork.isCertain ? "fork-bomb" : "fork-maybe";
      this.sign(kind, spanOf(fork.node, frameOf), `the function ${fork.name} starts itself repeatedly`);
    }
  }

  runArgv(argv: readonly Field[], around: CommandContext): Flow {
    this.budget.spend(ARGV_STEPS + around.via.length + inputSteps(argv, around.stdin));
    return this.budget.deeper(() => runCommand(argv, around, this));
  }

  runText(text: string, around: CommandContext): Flow {
    this.budget.spend(TEXT_STEPS + text.length / 4);
    const { scope, stdin, via, span } = around;
    return this.budget.deeper(() =>
      this.#script(this.#parse(text, span), { scope, stdin, via, fixed: span }),
    );
  }

  callFunction(name: string, args: readonly Field[], around: CommandContext): Flow | null {
    const node = around.scope.functionNamed(name);
    if (!node || this.#active.has(name)) return null;
    this.#calls.add(name);
    const { scope } = around;
    const before = scope.positional;
    scope.positional = args.map(({ text }) => text);
    const fixed = this.#functions.get(name)?.frame.fixed ?? null;
    const flow = this.#callBody(name, node, { scope, stdin: around.stdin, via: around.via, fixed });
    scope.positional = before;
    if (scope.ended === "function") scope.ended = null;
    return flow;
  }

  emit(command: EffectiveCommand): void {
    this.#found(command);
  }

  sign(kind: SignKind, span: Span, detail: string): void {
    this.signs.push({ kind, span, detail });
  }

  spend(steps: number): void {
    this.budget.spend(steps);
  }

  #parse(text: string, span: Span): ParsedScript {
    this.budget.spend(lookAheadSteps(text));
    const script = parseText(text);
    if (NAMES_ITSELF.test(text) && startsItself(script)) {
      this.sign("fork-bomb", span, "a script starts itself repeatedly");
    }
    return script;
  }

  #callBody(name: string, node: FunctionNode, frame: Frame): Flow {
    this.#active.add(name);
    const flow = this.budget.deeper(() => this.node(node.body, frame));
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
    this.budget.expect(statements.length);
    const output = new ListOutput(statements.length);
    for (const [i, statement] of statements.entries()) {
      if (i > 0) frame.scope.goOn(frame.isTested === true);
      output.add(this.#statement(statement, frame));
    }
    return output.flow();
  }

  #statement(statement: Statement, frame: Frame): Flow {
    return this.node(
      statement.command,
      statement.background ? { ...frame, scope: frame.scope.fork() } : frame,
    );
  }

  node(node: SyntaxNode, frame: Frame): Flow {
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
        return walkAndOr(node, frame, this);
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
        return walkIf(node, frame, this);
      case "For":
      case "Select":
        return walkFor(node, frame, this);
      case "While":
        return walkWhile(node, frame, this);
      case "Case":
        return walkCase(node, frame, this);
      case "Coproc":
        return this.#coproc(node, frame);
      case "ArithmeticFor":
        for (const part of [node.initialize, node.test, node.update])
          if (part) walkExpression(part, this.context(frame));
        return walkArithmeticFor(node, frame, this);
      default:
        walkExpression(node, this.context(frame));
        return flowOf("");
    }
  }

  #command(node: Command, frame: Frame): Flow {
    const { argvs, around } = evaluateCommand(node, frame, this.context(frame));
    let flow: Flow | null = null;
    // A command that consists only of redirections still opens their files.
    for (const argv of argvs.length > 0 ? argvs : [[]]) {
      const result = this.runArgv(argv, around);
      flow = flow === null ? result : flowOf(null, joinOrigins(flow.origins, result.origins));
    }
    return writeFiles(flow ?? flowOf(""), around, this.where);
  }

  #pipeline(node: Pipeline, frame: Frame): Flow {
    const [only] = node.commands;
    if (node.commands.length === 1 && only) return this.#alone(node, only, frame);
    this.budget.expect(node.commands.length);
    let flow = frame.stdin;
    for (const command of node.commands) {
      this.budget.spend(ARGV_STEPS);
      flow = this.node(command, { ...frame, scope: frame.scope.fork(), stdin: flow });
    }
    return flow;
  }

  /** A pipeline of one command, with or without `!`. */
  #alone({ prefixes }: Pipeline, only: SyntaxNode, frame: Frame): Flow {
    if (!prefixes.some(({ type }) => type === "Negation")) return this.node(only, frame);
    const flow = this.node(only, { ...frame, isTested: true });
    frame.scope.directories = frame.scope.directories.negated();
    return flow;
  }

  #redirected(node: Redirected, frame: Frame): Flow {
    const around = readRedirections(node, frame, this.context(frame));
    this.runArgv([], around);
    const flow = this.node(node.command, { ...frame, stdin: around.stdin });
    return writeFiles(flow, around, this.where);
  }

  #define(node: FunctionNode, frame: Frame): Flow {
    frame.scope.define(node.name.value, node);
    this.#functions.set(node.name.value, { node, frame: { ...frame, scope: frame.scope.fork() } });
    return flowOf("");
  }

  #coproc(node: Coproc, frame: Frame): Flow {
    return this.node(node.body, { ...frame, scope: frame.scope.fork(), stdin: flowOf(null) });
  }

  #substitute(part: Substitution, frame: Frame, stdin: Flow): Flow {
    // unbash parses a substitution and everything nested in it on first access: charge the budget first.
    this.budget.spend(TEXT_STEPS + part.text.length / 2);
    const { script } = part;
    const around = frame.fixed ?? frame.around ?? { start: part.pos, end: part.end };
    if (!script) {
      this.sign("unparsed", around, "a substitution cannot be parsed");
      return flowOf(null);
    }
    // If unbash has unescaped the text, positions in the text are wrong: report the span around the substitution.
    const fixed = script.source === undefined ? frame.fixed : around;
    const scope = frame.scope.fork();
    // A substitution does not inherit `set -e`.
    scope.exitsOnError = false;
    return this.budget.deeper(() => this.#script(script, { ...frame, scope, stdin, fixed }));
  }

  context(frame: Frame): WordContext {
    if (this.#context?.frame !== frame) this.#context = { frame, words: this.#wordsIn(frame) };
    return this.#context.words;
  }

  #wordsIn(frame: Frame): WordContext {
    return {
      scope: frame.scope,
      where: this.where,
      budget: this.budget,
      substitute: (part) => this.#substitute(part, frame, frame.stdin),
      carry: () => {},
      connect: (part) => this.#substitute(part, frame, flowOf(null)),
      arithmetic: (part) => walkExpression(part, this.context(frame)),
      evaluated: (detail) =>
        this.sign("evaluated-data", frame.fixed ?? frame.around ?? { start: 0, end: 0 }, detail),
    };
  }
}

/** The minimum cost of a nested text. */
const TEXT_STEPS = 24;
const ARGV_STEPS = 2;

const NAMES_ITSELF = /\$\{?(0|BASH_SOURCE)/;
