// Translates a regular expression for ripgrep into one for grep -E. nacre uses it only if ripgrep is not installed.
// RE2 checks the pattern first and rejects back-references and patterns that are too large. This module rejects a
// pattern that grep cannot express, instead of approximating it.
import { NacreError } from "../support/errors.ts";
import { compilePattern } from "../text/pattern.ts";

export interface ExtendedPattern {
  readonly source: string;
  readonly ignoreCase: boolean;
}

export function extendedPattern(pattern: string): ExtendedPattern {
  compilePattern(pattern, "pattern");
  const flags = /^\(\?i\)/.exec(pattern)?.[0] ?? "";
  const rest = pattern.slice(flags.length);
  const parts: string[] = [];
  for (let at = 0; at < rest.length; ) {
    const { text, length } = nextPart(rest.slice(at));
    parts.push(text);
    at += length;
  }
  return { source: parts.join(""), ignoreCase: flags !== "" };
}

function nextPart(rest: string): { readonly text: string; readonly length: number } {
  if (rest.startsWith("(?:")) return { text: "(", length: 3 };
  if (rest.startsWith("(?")) throw unsupported(rest.slice(0, 4));
  if (rest.startsWith("[")) return bracket(rest);
  // Drop the `?` of a lazy repetition: the repetition matches the same lines without it.
  const lazy = /^([*+?]|\{\d*,?\d*\})\?/.exec(rest);
  if (lazy) return { text: lazy[1] ?? "", length: lazy[0].length };
  if (!rest.startsWith("\\")) return { text: rest.charAt(0), length: 1 };
  const sequence = rest.slice(0, 2);
  const known = CLASSES[sequence];
  if (known !== undefined) return { text: `[${known}]`, length: 2 };
  if (/^\\[wWsSbB]$/.test(sequence)) return { text: sequence, length: 2 };
  if (/^\\[^A-Za-z0-9]$/.test(sequence)) return { text: sequence, length: 2 };
  if (sequence === "\\t") return { text: "\t", length: 2 };
  throw unsupported(sequence);
}

/**
 * Translates a bracket expression. Moves `]`, `^` and `-` to positions at which grep reads them literally, because
 * grep has no escapes inside brackets.
 */
function bracket(rest: string): { readonly text: string; readonly length: number } {
  const found = /^\[(\^?)((?:\[:\w+:\]|\\.|[^\]\\])+)\]/s.exec(rest);
  if (!found) throw unsupported("[");
  const [whole, not = "", inside = ""] = found;
  let hasBracket = false;
  let hasDash = false;
  let hasCaret = false;
  const set = inside.replace(/\\./gs, (sequence) => {
    if (sequence === "\\]") hasBracket = true;
    else if (sequence === "\\-") hasDash = true;
    else if (sequence === "\\^") hasCaret = true;
    else return IN_BRACKETS[sequence] ?? literalIn(sequence);
    return "";
  });
  return {
    text: `[${not}${hasBracket ? "]" : ""}${set}${hasCaret ? "^" : ""}${hasDash ? "-" : ""}]`,
    length: whole.length,
  };
}

function literalIn(sequence: string): string {
  if (/^\\[^A-Za-z0-9]$/s.test(sequence)) return sequence.charAt(1);
  throw unsupported(sequence);
}

const CLASSES: Readonly<Record<string, string>> = { "\\d": "0-9", "\\D": "^0-9" };
const IN_BRACKETS: Readonly<Record<string, string>> = {
  "\\d": "0-9",
  "\\w": "[:alnum:]_",
  "\\s": "[:space:]",
  "\\t": "\t",
};

function unsupported(part: string): NacreError {
  return new NacreError(
    "invalid_input",
    `The pattern contains ${part}, which grep cannot search for. Install ripgrep (rg), or write the pattern without it.`,
  );
}
