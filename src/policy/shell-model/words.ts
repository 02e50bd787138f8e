// Turns a word of the syntax tree into fields, as bash does: removes quotes, expands braces, tildes and known
// variables, and splits at IFS. An unknown part becomes a mark (marks.ts).

import { parse, type Word, type WordPart } from "unbash";
import { POLICY_ALTERNATIVES_MAX_COUNT } from "../../support/limits.ts";
import { numberOf } from "./arithmetic.ts";
import { expandBraces } from "./braces.ts";
import { decodeAnsiC } from "./decode-text.ts";
import { expandParameter, expandSimple } from "./expand-parameters.ts";
import type { Flow } from "./flow.ts";
import { withGlobs } from "./glob.ts";
import { withGlobOptions } from "./glob-options.ts";
import { BRACKET, QUESTION, SOMETHING, STAR, UNKNOWN, unmarked } from "./marks.ts";
import type { Scope } from "./script-scope.ts";
import { lookAheadSteps } from "./slow-text.ts";
import type { WordContext } from "./word-context.ts";

export interface Evaluated {
  /** One list of fields for each combination of variable values. */
  readonly alternatives: readonly (readonly string[])[];
  readonly flow: Flow | null;
}

/** Evaluates a word as an argument: the result may be any number of fields. */
export function evaluateWord(word: Word, context: WordContext): Evaluated {
  if (isPlain(word.text)) {
    context.budget.spend(PLAIN_STEPS);
    return { alternatives: [[word.text]], flow: null };
  }
  context.budget.spend(partSteps(word.text));
  const evaluation = new Evaluation(context);
  const combined = evaluation.combinations(word);
  const fields = combined.map((variants) => variants.map((pieces) => toFields(pieces, context)));
  return { alternatives: joinCombinations(fields), flow: evaluation.flow };
}

/** Every value that a word may have where bash does not split it into fields: in an assignment or a here-string. */
export function evaluateText(word: Word, context: WordContext): readonly string[] {
  if (isPlain(word.text)) {
    context.budget.spend();
    return [word.text];
  }
  context.budget.spend(partSteps(word.text));
  const variants = new Evaluation(context).variants(word.parts ?? [literal(word)]);
  return variants.map((pieces) =>
    expandTildes(pieces, context, true)
      .map(({ text }) => text)
      .join(""),
  );
}

/** Evaluates quoted parts, such as the body of a here-document. */
export function evaluateQuoted(parts: readonly WordPart[], context: WordContext): string {
  const variants = new Evaluation(context).variants(parts, true);
  return variants.length === 1 ? (variants[0] ?? []).map(({ text }) => text).join("") : UNKNOWN;
}

/** The cost of a word that needs no evaluation. */
export const PLAIN_STEPS = 0.25;

export const isPlain = (text: string): boolean => /^[\w/.,:+@%=-]*$/.test(text);

/** The cost of parsing a word. unbash parses its parts on first access: charge the budget first. */
function partSteps(text: string): number {
  const steps = 1 + text.length / 16;
  return text.length < SHORT_CHARS ? steps : steps + lookAheadSteps(text);
}

const SHORT_CHARS = 128;

interface Piece {
  readonly text: string;
  /** "literal": text as it is written. "quoted": a field even if it is empty. "split": text that bash splits at IFS. */
  readonly kind: "literal" | "quoted" | "split";
}

const literal = (word: Word): WordPart => ({
  type: "Literal",
  pos: word.pos,
  end: word.end,
  text: word.text,
  value: word.value,
});

/** One list of pieces for each combination of variable values. */
type Variants = readonly (readonly Piece[])[];

class Evaluation {
  flow: Flow | null = null;
  readonly #context: WordContext;

  constructor(context: WordContext) {
    this.#context = context;
  }

  /** Every brace alternative, each with every combination of variable values. */
  combinations(word: Word): readonly Variants[] {
    let lists: WordPart[][] = [[]];
    for (const part of word.parts ?? [literal(word)]) {
      const choices = part.type === "BraceExpansion" ? this.#braces(part.text) : this.#elements(part);
      this.#context.budget.spend(lists.length * choices.length);
      lists = multiplied(lists, choices);
      if (lists.length > POLICY_ALTERNATIVES_MAX_COUNT * 4) lists = [[UNKNOWN_PART]];
    }
    return lists.map((list) => this.variants(list));
  }

  variants(parts: readonly WordPart[], quoted = false): Variants {
    let variants: Piece[][] = [[]];
    for (const part of parts) {
      this.#context.budget.spend(variants.length);
      variants = multiplied(variants, this.#part(part, quoted));
      if (variants.length > POLICY_ALTERNATIVES_MAX_COUNT) variants = [[{ text: UNKNOWN, kind: "quoted" }]];
    }
    return variants;
  }

  /** A list such as `"$@"` or `"${a[@]}"` expands to a field for each element. */
  #elements(part: WordPart): WordPart[][] {
    const inner = part.type === "DoubleQuoted" && part.parts.length === 1 ? part.parts[0] : part;
    const elements = inner ? listElements(inner, this.#context.scope) : null;
    if (elements === null) return [[part]];
    return elements.map((value) => [
      { type: "SingleQuoted", pos: part.pos, end: part.end, text: value, value },
    ]);
  }

  #braces(text: string): WordPart[][] {
    const alternatives = expandBraces(text, this.#context.budget);
    if (alternatives === null) return [[UNKNOWN_PART]];
    return alternatives.map((raw) => {
      if (raw === "" || isPlain(raw)) return [{ type: "Literal", pos: 0, end: 0, text: raw, value: raw }];
      const command = parse(`_ ${raw}`).commands[0]?.command;
      const word = command?.type === "Command" && command.suffix.length === 1 ? command.suffix[0] : undefined;
      if (word?.type !== "Word") return [UNKNOWN_PART];
      return [...(word.parts ?? [literal(word)])];
    });
  }

  #part(part: WordPart, quoted: boolean): Variants {
    const fixed = quoted ? "quoted" : "literal";
    switch (part.type) {
      case "Literal":
        return [[{ text: part.value, kind: fixed }]];
      case "SingleQuoted":
        return [[{ text: part.value, kind: "quoted" }]];
      case "AnsiCQuoted":
        return [[{ text: ansiCText(part), kind: "quoted" }]];
      case "DoubleQuoted":
      case "LocaleString":
        return this.variants(part.parts, true).map((way) => [{ text: "", kind: "quoted" }, ...way]);
      case "SimpleExpansion":
        return this.#expansion(expandSimple(part.text.slice(1), this.#context), quoted);
      case "ParameterExpansion":
        return this.#expansion(expandParameter(part, this.#context, evaluateText), quoted);
      case "CommandExpansion":
        return this.#expansion(printed(this.#context.substitute(part)), quoted);
      case "ArithmeticExpansion":
        this.#context.arithmetic(part);
        return [[{ text: numberOf(part, this.#context.scope), kind: fixed }]];
      case "ProcessSubstitution":
        this.flow = this.#context.connect(part);
        return [[{ text: `/dev/fd/${SOMETHING}`, kind: "quoted" }]];
      case "Glob":
        return [[{ text: GLOBS[part.kind], kind: "literal" }]];
      case "ExtendedGlob":
        return [[{ text: STAR, kind: "literal" }]];
      case "BraceExpansion":
        return [[{ text: UNKNOWN, kind: fixed }]];
    }
  }

  #expansion(values: readonly string[], quoted: boolean): Variants {
    return values.map((text) => {
      this.#context.budget.spend(text.length / VALUE_CHARS_PER_STEP);
      return [quoted ? { text, kind: "quoted" } : { text: withGlobs(text), kind: "split" }];
    });
  }
}

/** The number of characters of a value that one step copies. */
const VALUE_CHARS_PER_STEP = 32;
/** The number of characters that one step splits into fields. Each combination is split separately. */
const SPLIT_CHARS_PER_STEP = 8;

function charsIn(pieces: readonly Piece[]): number {
  let chars = 0;
  for (const { text } of pieces) chars += text.length;
  return chars;
}

function listElements(part: WordPart, scope: Scope): readonly string[] | null {
  if (part.type === "SimpleExpansion")
    return part.text === "$@" || part.text === "$*" ? scope.positional : null;
  if (part.type !== "ParameterExpansion" || part.operation || part.prefix) return null;
  if (part.parameter === "@" || part.parameter === "*") return scope.positional;
  const isList = part.index?.text === "@" || part.index?.text === "*";
  return isList ? (scope.variable(part.parameter)?.elements ?? null) : null;
}

/** Appends each choice to each list. A single list is extended in place, because copying would take quadratic time. */
function multiplied<T>(lists: T[][], choices: readonly (readonly T[])[]): T[][] {
  const [list] = lists;
  const [choice] = choices;
  if (lists.length !== 1 || choices.length !== 1 || !list || !choice) {
    return lists.flatMap((head) => choices.map((tail) => [...head, ...tail]));
  }
  for (const item of choice) list.push(item);
  return lists;
}

const UNKNOWN_PART: WordPart = { type: "SimpleExpansion", pos: 0, end: 0, text: "$_" };
const GLOBS = { star: STAR, question: QUESTION, bracket: BRACKET } as const;

function printed({ text, alternatives }: Flow): readonly string[] {
  return alternatives ?? [text === null ? UNKNOWN : text.replace(/\n+$/, "")];
}

/** Decodes `$'…'` itself if its bytes are not UTF-8. The parser returns U+FFFD for these, which matches no file. */
function ansiCText({ text, value }: { readonly text: string; readonly value: string }): string {
  const isExact = value.isWellFormed() && !value.includes("\uFFFD");
  return isExact ? unmarked(value) : decodeAnsiC(text.slice(2, -1));
}

function toFields(pieces: readonly Piece[], context: WordContext): readonly string[] {
  context.budget.spend(charsIn(pieces) / SPLIT_CHARS_PER_STEP);
  const separators = fieldSeparators(context.scope);
  const fields: string[] = [];
  let current: string | null = null;
  for (const { text, kind } of expandTildes(pieces, context, false)) {
    if (kind !== "split") {
      if (text !== "" || kind === "quoted") current = (current ?? "") + text;
      continue;
    }
    for (const char of text) {
      if (!separators.includes(char)) current = (current ?? "") + char;
      else if (current !== null) {
        fields.push(current);
        current = null;
      }
    }
  }
  if (current !== null) fields.push(current);
  return withGlobOptions(fields, context.scope);
}

function fieldSeparators(scope: Scope): string {
  const assigned = scope.variable("IFS")?.values;
  return assigned === undefined ? " \t\n" : assigned.join("");
}

/** Expands a tilde at the start, after `name=` and, in assignments, after every colon. */
function expandTildes(
  pieces: readonly Piece[],
  context: WordContext,
  isAssignment: boolean,
): readonly Piece[] {
  if (!pieces.some(({ kind, text }) => kind === "literal" && text.includes("~"))) return pieces;
  const firstOther = pieces.findIndex(({ kind }) => kind !== "literal");
  const count = firstOther < 0 ? pieces.length : firstOther;
  const head = pieces
    .slice(0, count)
    .map(({ text }) => text)
    .join("");
  const pattern = isAssignment ? /(^|:)~([\w.+-]*)(?=\/|:|$)/g : /^(\w+=)?~([\w.+-]*)(?=\/|$)/g;
  const expanded = head.replace(pattern, (whole: string, before = "", name = "", offset = 0) => {
    const reachesEnd = offset + whole.length === head.length;
    return reachesEnd && firstOther >= 0 ? whole : before + homeOf(name, context);
  });
  return [{ text: expanded, kind: "literal" }, ...pieces.slice(count)];
}

function homeOf(name: string, { where, scope }: WordContext): string {
  // If HOME is unset, bash uses the user database.
  if (name === "") return onlyOf(scope.variable("HOME")?.values ?? [where.home]) || where.home;
  if (name === "+") return onlyOf(scope.variable("PWD")?.values ?? scope.cwds);
  if (name === "-") return onlyOf(scope.variable("OLDPWD")?.values ?? [UNKNOWN]);
  if (name === "root") return "/root";
  return where.home.endsWith(`/${name}`) ? where.home : `/home/${name}`;
}

const onlyOf = (values: readonly string[]): string =>
  values.length === 1 ? (values[0] ?? UNKNOWN) : UNKNOWN;

/**
 * Joins the pieces of each combination. Brace alternatives become consecutive fields. The values of a variable become
 * alternatives of the whole word.
 */
function joinCombinations(
  combined: readonly (readonly (readonly string[])[])[],
): readonly (readonly string[])[] {
  const [only] = combined;
  if (combined.length === 1 && only) return only;
  if (combined.every((variants) => variants.length === 1))
    return [combined.flatMap((variants) => variants[0] ?? [])];
  return [combined.flatMap((variants) => variants.flat())];
}
