// A pattern for searching large output. In addition to a test of one line, it supports two faster tests: a search for
// the bytes of the pattern, if the pattern is plain text, and a test of many lines at once.
import { RE2JS } from "re2js";
import type { LinePattern } from "./filter.ts";
import { compilePattern } from "./pattern.ts";

export interface SearchPattern extends LinePattern {
  /** The text that the pattern stands for, if the pattern has no operators. */
  readonly literal: string | undefined;
  /** Whether any of these lines can match. False means that none does. */
  mayMatch(lines: string): boolean;
  /** Where the first match after `from` begins and ends. */
  find(text: string, from?: number): readonly [start: number, end: number] | undefined;
  /** Whether a match can depend on where the line begins or ends. */
  readonly isAnchored: boolean;
}

export function compileSearch(source: string, name: string): SearchPattern {
  const literal = literalOf(source);
  const line = compilePattern(source, name);
  const one = RE2JS.compile(source);
  // In multi-line mode, ^ and $ match at every line. \A and \z still match only at the ends of the whole text.
  const isWholeText = /\\[Az]|\(\?[a-z]*-[a-z]*m/.test(source);
  const many = isWholeText ? undefined : RE2JS.compile(source, RE2JS.MULTILINE);
  return {
    source,
    literal,
    matches: literal === undefined ? line.matches : (text) => text.includes(literal),
    mayMatch: (lines) => (literal === undefined ? (many?.test(lines) ?? true) : lines.includes(literal)),
    find: (text, from = 0) => {
      if (literal !== undefined) {
        const at = text.indexOf(literal, from);
        return at < 0 ? undefined : [at, at + literal.length];
      }
      const matcher = one.matcher(text);
      return matcher.find(from) ? [matcher.start(), matcher.end()] : undefined;
    },
    isAnchored: literal === undefined && /[$^]|\\[bBAz]/.test(source),
  };
}

/** undefined if the pattern has an operator, or is empty. */
function literalOf(source: string): string | undefined {
  if (!/^(?:[^\\^$.|?*+()[\]{}\n]|\\[\\^$.|?*+()[\]{}/"'-])+$/.test(source)) return undefined;
  return source.replace(/\\(.)/g, "$1");
}
