// Regular expressions that come from a model, over lines of output. Matched by RE2 in linear time,
// because a backtracking engine can be made to hang the host with one pattern.
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { messageOf, NacreError } from "../support/errors.ts";
import { PATTERN_MAX_CHARS, PATTERN_MAX_INSTRUCTIONS } from "../support/limits.ts";
import type { LinePattern } from "./filter.ts";

/** `name` is the parameter the pattern came in by; messages repeat it. */
export function compilePattern(source: string, name = "filter"): LinePattern {
  const refuse = (reason: string, cause?: unknown): NacreError =>
    new NacreError("invalid_input", `Invalid ${name} regex: ${reason}`, { cause });
  if (source.length > PATTERN_MAX_CHARS) {
    throw refuse(
      `it has ${source.length} characters, at most ${PATTERN_MAX_CHARS} are allowed. Use a shorter one.`,
    );
  }
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (thrown) {
    throw refuse(explain(thrown), thrown);
  }
  if (compiled.programSize() > PATTERN_MAX_INSTRUCTIONS) {
    throw refuse(
      "it is too large once its repetitions are written out. Use smaller {n,m} counts, or * and +.",
    );
  }
  // test() runs on the DFA; find() would fall back to a simulation that is a hundred times slower.
  return { source, matches: (line) => compiled.test(line) };
}

function explain(error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) return messageOf(error);
  const culprit = error.getPattern() ?? "";
  const said = culprit === "" ? error.getDescription() : `${error.getDescription()}: \`${culprit}\``;
  const lack = LACKS.find(({ begins }) => begins.test(culprit));
  if (lack === undefined) return `${said}. Patterns use RE2 syntax.`;
  return `${said}. Patterns use RE2 syntax, which has no ${lack.what}: ${lack.instead}.`;
}

const GREP = "or run `grep -P` over the output with a command of its own";

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
