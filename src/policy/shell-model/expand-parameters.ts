// Parameter expansion with known values: `$x`, `${x:-y}`, `${x#p}`, `${a[@]}`, and parameters that bash sets.

import { type ParameterExpansionPart, type ParameterOperation, parse, type Word } from "unbash";
import { POLICY_ALTERNATIVES_MAX_COUNT, POLICY_PATTERN_VALUE_MAX_CHARS } from "../../support/limits.ts";
import { couldMatch } from "./glob.ts";
import { isCertain, SOMETHING, UNKNOWN, unmarked } from "./marks.ts";
import type { WordContext } from "./word-context.ts";

type EvaluateText = (word: Word, context: WordContext) => readonly string[];

/** Every value that `$name` may have. */
export function expandSimple(name: string, context: WordContext): readonly string[] {
  const { scope, where } = context;
  const variable = scope.variable(name);
  if (variable && variable.origins.length > 0) context.carry(variable.origins);
  if (variable) return variable.elements ? [variable.elements[0] ?? ""] : variable.values;
  if (/^[1-9]\d*$/.test(name))
    return scope.positional ? [scope.positional[Number(name) - 1] ?? ""] : unknownPositional(name);
  switch (name) {
    case "@":
    case "*":
      return scope.positional ? nonEmpty(scope.positional) : [UNKNOWN];
    case "HOME":
      return [where.home];
    case "PWD":
      return scope.cwds;
    case "TMPDIR":
      return ["/tmp"];
    case "IFS":
      return [" \t\n"];
    case "USER":
    case "LOGNAME":
      return [where.isRoot ? "root" : where.home.slice(where.home.lastIndexOf("/") + 1)];
    case "SHELL":
    case "BASH":
      return ["/bin/bash"];
    default:
      return inherited(name, context);
  }
}

function inherited(name: string, { where, carry }: WordContext): readonly string[] {
  if (CREDENTIAL.test(name)) carry(["token"]);
  return where.variables.get(name) ?? (NUMBERS.has(name) ? [SOMETHING] : [UNKNOWN]);
}

/** Names of variables that contain credentials. */
const CREDENTIAL = /(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)$/;

/** Few scripts have many arguments, so a parameter with a high number is usually empty: `rm$IFS$9-rf`. */
function unknownPositional(name: string): readonly string[] {
  return Number(name) >= 5 ? ["", UNKNOWN] : [UNKNOWN];
}

const NUMBERS: ReadonlySet<string> = new Set(
  "# ? $ ! RANDOM SRANDOM SECONDS UID EUID PPID BASHPID LINENO".split(" "),
);

export function expandParameter(
  part: ParameterExpansionPart,
  context: WordContext,
  evaluate: EvaluateText,
): readonly string[] {
  const { operation, prefix } = part;
  if (operation?.type === "Transform" && /[PA]/.test(operation.operand.text)) {
    context.evaluated("bash expands a value again, as a prompt");
  }
  if (prefix === "#") return [SOMETHING];
  if (operation?.type === "Names") return [UNKNOWN];
  let values = elementsOf(part, context, evaluate);
  if (prefix === "!") values = indirect(values, context);
  if (!operation) return values;
  const results = values.flatMap((value) => operate(value, operation, part, context, evaluate));
  return results.length > POLICY_ALTERNATIVES_MAX_COUNT ? [UNKNOWN] : [...new Set(results)];
}

function elementsOf(
  part: ParameterExpansionPart,
  context: WordContext,
  evaluate: EvaluateText,
): readonly string[] {
  if (!part.index) return expandSimple(part.parameter, context);
  // The index can run commands.
  const [index] = evaluate(part.index, context);
  const variable = context.scope.variable(part.parameter);
  if (!variable) return [UNKNOWN];
  const elements = variable.elements ?? variable.values;
  if (index === "@" || index === "*") return nonEmpty(elements);
  if (index !== undefined && /^\d+$/.test(index)) return [elements[Number(index)] ?? ""];
  return nonEmpty(elements);
}

function indirect(names: readonly string[], context: WordContext): readonly string[] {
  return names.flatMap((name) => (/^\w+$/.test(name) ? expandSimple(name, context) : [UNKNOWN]));
}

const nonEmpty = (values: readonly string[]): readonly string[] => (values.length > 0 ? values : [""]);

function operate(
  value: string,
  operation: ParameterOperation,
  part: ParameterExpansionPart,
  context: WordContext,
  evaluate: EvaluateText,
): readonly string[] {
  switch (operation.type) {
    case "Default": {
      const operand = evaluate(operation.operand, context);
      if (operation.operator.endsWith("=")) context.scope.assign(part.parameter, [...operand, value]);
      return withDefault(value, operation.operator, operand);
    }
    case "Remove": {
      const [pattern = UNKNOWN] = evaluate(operation.operand, context);
      return [removed(value, operation.operator, pattern)];
    }
    case "Replace": {
      for (const word of cutSubstitutions(part.text)) evaluate(word, context);
      const [pattern = UNKNOWN] = evaluate(operation.pattern, context);
      const [replacement = UNKNOWN] = evaluate(operation.replacement, context);
      return [replaced(value, operation.operator, pattern, replacement)];
    }
    case "Slice": {
      const [offset = ""] = evaluate(operation.offset, context);
      const [length] = operation.length ? evaluate(operation.length, context) : [undefined];
      return [sliced(value, offset, length)];
    }
    case "CaseModification":
      return [cased(value, operation.operator)];
    default:
      return [isCertain(value) && operation.type === "Transform" ? unmarked(value) : UNKNOWN];
  }
}

/**
 * The substitutions in a pattern. unbash ends a pattern at the first slash, even if that slash is inside a
 * substitution: `${x/$(cat /a)/b}`.
 */
function cutSubstitutions(text: string): readonly Word[] {
  if (!/\$\(|`/.test(text)) return [];
  const found = text.match(/\$\([^()]{0,400}\)|`[^`]{0,400}`/g) ?? [];
  return found.flatMap((one) => {
    const command = parse(`_ ${one}`).commands[0]?.command;
    const word = command?.type === "Command" ? command.suffix[0] : undefined;
    return word?.type === "Word" ? [word] : [];
  });
}

function withDefault(value: string, operator: string, operand: readonly string[]): readonly string[] {
  const unknown = value === UNKNOWN;
  if (operator.endsWith("+"))
    return unknown ? [...operand, ""] : value === "" && operator === ":+" ? [""] : operand;
  if (operator.endsWith("?")) return [value];
  // The known value comes first, because most code that reads options uses only the first alternative.
  if (unknown) return [...operand, UNKNOWN];
  return value === "" ? operand : [value];
}

function removed(value: string, operator: string, pattern: string): string {
  if (!isCertain(value) || value.length > POLICY_PATTERN_VALUE_MAX_CHARS) return UNKNOWN;
  const fromStart = operator.startsWith("#");
  const cuts = Array.from({ length: value.length + 1 }, (_, i) => i);
  const longest = operator.length === 2;
  if (fromStart === longest) cuts.reverse();
  for (const cut of cuts) {
    const [gone, kept] = fromStart
      ? [value.slice(0, cut), value.slice(cut)]
      : [value.slice(cut), value.slice(0, cut)];
    if (couldMatch(pattern, gone)) return kept;
  }
  return value;
}

function replaced(value: string, operator: string, pattern: string, replacement: string): string {
  if (!isCertain(value) || !isCertain(pattern) || pattern === "") return UNKNOWN;
  if (operator === "//") return value.replaceAll(pattern, () => replacement);
  if (operator === "/#") return value.startsWith(pattern) ? replacement + value.slice(pattern.length) : value;
  if (operator === "/%")
    return value.endsWith(pattern) ? value.slice(0, -pattern.length) + replacement : value;
  return value.replace(pattern, () => replacement);
}

function sliced(value: string, offset: string, length: string | undefined): string {
  const numbers = /^\s*-?\d{1,9}\s*$/;
  if (!isCertain(value) || !numbers.test(offset) || (length !== undefined && !numbers.test(length)))
    return UNKNOWN;
  const start = Number(offset) < 0 ? value.length + Number(offset) : Number(offset);
  if (length === undefined) return value.slice(start);
  return value.slice(start, Number(length) < 0 ? value.length + Number(length) : start + Number(length));
}

function cased(value: string, operator: string): string {
  if (operator === "^^") return value.toUpperCase();
  if (operator === ",,") return value.toLowerCase();
  const first = value.slice(0, 1);
  return (operator === "^" ? first.toUpperCase() : first.toLowerCase()) + value.slice(1);
}
