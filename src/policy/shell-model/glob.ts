// Matches marked patterns against plain text as bash globs do. Slashes are ordinary here: callers split paths.

import { BRACKET, DEEP, MANY, QUESTION, SOMETHING, STAR, UNKNOWN } from "./marks.ts";

/** Whether the pattern may match the text. */
export function couldMatch(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (place < text.length) {
    const sign = pattern[at];
    if (sign !== undefined && MANY_CHARS.has(sign)) {
      star = at;
      resume = place;
      at += 1;
    } else if (sign !== undefined && (sign === text[place] || ONE_CHAR.has(sign))) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      resume += 1;
      place = resume;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (at < pattern.length && MANY_CHARS.has(pattern[at] ?? "")) at += 1;
  return at === pattern.length;
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
