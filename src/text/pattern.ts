// Compiles the regular expressions with which a model selects lines of output. RE2 matches in linear time. With
// a backtracking engine, one pattern could hang the host process.
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { messageOf, NacreError } from "../support/errors.ts";
import { PATTERN_MAX_CHARS, PATTERN_MAX_INSTRUCTIONS } from "../support/limits.ts";
import type { LinePattern } from "./filter.ts";

/** Error messages use `name`, the parameter that contains the pattern. */
export function compilePattern(source: string, name = "filter"): LinePattern {
  const refuse = (reason: string, cause?: unknown): NacreError =>
    new NacreError("invalid_input", `Invalid ${name} regex: ${reason}`, { cause });
  if (source.length > PATTERN_MAX_CHARS) {
    throw refuse(
      `it has ${source.length} characters, but at most ${PATTERN_MAX_CHARS} are allowed. Use a shorter pattern.`,
    );
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (thrown) {
    throw refuse(explain(thrown, source), thrown);
  }
  if (compiled.programSize() > PATTERN_MAX_INSTRUCTIONS) {
    throw refuse("it is too large when its repetitions are expanded. Use smaller {n,m} counts, or * and +.");
  }
  // test() uses a DFA. find() would simulate an NFA, which is a hundred times slower.
  return { source, matches: (line) => compiled.test(line) };
}

function explain(error: unknown, source: string): string {
  if (!(error instanceof RE2JSSyntaxException)) return messageOf(error);
  const description = error.getDescription();
  const culprit = error.getPattern() ?? "";
  const shown = culprit === "" ? description : `${description}: \`${culprit}\``;
  const message = `${shown} (at character ${mistakeAt(source, description, culprit) + 1})`;
  const lack = LACKS.find(({ begins }) => begins.test(culprit));
  if (lack === undefined) return `${message}. Patterns use RE2 syntax.`;
  return `${message}. Patterns use RE2 syntax, which has no ${lack.what}: ${lack.instead}.`;
}

/**
 * The index of the mistake. RE2 reports the text that it could not parse; for an unpaired parenthesis, it
 * reports the whole pattern.
 */
function mistakeAt(source: string, description: string, culprit: string): number {
  if (description.endsWith(" )")) return unpairedParenthesis(source);
  if (culprit === "") return source.length - 1;
  // If a group name occurs twice, the second one is the mistake.
  return description.startsWith("duplicate") ? source.lastIndexOf(culprit) : source.indexOf(culprit);
}

/** The first `)` without its `(`, otherwise the last `(` without its `)`. Ignores escapes and classes. */
function unpairedParenthesis(source: string): number {
  const open: number[] = [];
  for (const { 0: token, index } of source.matchAll(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|[()]/g)) {
    if (token === "(") open.push(index);
    else if (token === ")" && open.pop() === undefined) return index;
  }
  return open.at(-1) ?? 0;
}

const GREP = "or run `grep -P` on the output in another command";

const LACKS = [
  { begins: /^\(\?=/, what: "look-ahead", instead: `put what must follow into the pattern itself, ${GREP}` },
  {
    begins: /^\(\?!/,
    what: "look-ahead",
    instead: `match the lines you want instead of excluding others, ${GREP}`,
  },
  {
    begins: /^\(\?<[=!]/,
    what: "look-behind",
    instead: `put what comes before into the pattern itself, ${GREP}`,
  },
  { begins: /^\\(?:[1-9]|k)/, what: "back-references", instead: `write the repeated text out, ${GREP}` },
  { begins: /^\(\?>/, what: "atomic groups", instead: "use (?:…), matching takes linear time anyway" },
  {
    begins: /^[*+?}]\+$/,
    what: "possessive quantifiers",
    instead: "drop the second +, matching takes linear time anyway",
  },
  { begins: /^\\Z/, what: "\\Z", instead: "use $" },
  { begins: /^\\u/, what: "\\u escapes", instead: "use \\x{…} with the code point" },
  { begins: /^\\h/, what: "\\h", instead: "use [ \\t]" },
] as const;
