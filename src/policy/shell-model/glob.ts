// Matches marked patterns against plain text as bash globs do. Slashes are ordinary here: callers split paths.

import { BRACKET, DEEP, MANY, QUESTION, SOMETHING, STAR, UNKNOWN } from "./marks.ts";

/** Whether the pattern may match the text. */
export function couldMatch(pattern: string, text: string): boolean {
  let patternAt = 0;
  let textAt = 0;
  let star = -1;
  let resume = 0;
  while (textAt < text.length) {
    const expected = pattern[patternAt];
    if (expected !== undefined && MANY_CHARS.has(expected)) {
      star = patternAt;
      resume = textAt;
      patternAt += 1;
    } else if (expected !== undefined && (expected === text[textAt] || ONE_CHAR.has(expected))) {
      patternAt += 1;
      textAt += 1;
    } else if (star >= 0) {
      resume += 1;
      textAt = resume;
      patternAt = star + 1;
    } else {
      return false;
    }
  }
  while (patternAt < pattern.length && MANY_CHARS.has(pattern[patternAt] ?? "")) patternAt += 1;
  return patternAt === pattern.length;
}

/** Matches a pattern of a user rule, in which `*` matches anything. */
export function matchesPattern(pattern: string, text: string): boolean {
  return couldMatch(pattern.replaceAll("*", STAR), text);
}

const MANY_CHARS = new Set([STAR, UNKNOWN, SOMETHING, DEEP, MANY]);
const ONE_CHAR = new Set([QUESTION, BRACKET]);

/** The text with marks for its glob characters. */
export function withGlobs(text: string): string {
  if (!/[*?[]/.test(text)) return text;
  return withBrackets(text.replaceAll("*", STAR).replaceAll("?", QUESTION));
}

/**
 * Replaces bracket expressions, which contain no slash. A regular expression would take quadratic time for a row of
 * open brackets.
 */
function withBrackets(text: string): string {
  let marked = "";
  let at = 0;
  for (let open = text.indexOf("["); open >= 0; open = text.indexOf("[", at)) {
    const close = text.indexOf("]", open + 2);
    if (close < 0) break;
    const slash = text.lastIndexOf("/", close);
    marked += slash > open ? text.slice(at, slash + 1) : text.slice(at, open) + BRACKET;
    at = (slash > open ? slash : close) + 1;
  }
  return marked + text.slice(at);
}
