// Marks inside evaluated text that stand for unknown parts and for active glob characters. They are Unicode
// noncharacters, so no ordinary text contains them; parse.ts reports text that does.

/** Any text, even empty. */
export const UNKNOWN = "\uFDD0";
/** At least one character, no slash: a counter, a process ID, the random part of a temporary name. */
export const SOMETHING = "\uFDD1";
export const STAR = "\uFDD2";
export const QUESTION = "\uFDD3";
export const BRACKET = "\uFDD4";
/** As the last part of a path: the directory and everything below it. */
export const DEEP = "\uFDD5";
/** As the last part of a path: some of the files below it. */
export const MANY = "\uFDD6";

/** Every number of a wide range such as `{1..65535}`. */
export const EACH = "\uFDD7";

const ANY_MARK = /[\uFDD0-\uFDD7]/;
const ALL_MARKS = /[\uFDD0-\uFDEF\uFFFE\uFFFF]/g;
/** A stray byte of a path (support/path-text.ts). */
const STRAY_BYTE = /[\udc80-\udcff]/gu;
const SHOWN: Readonly<Record<string, string>> = {
  [UNKNOWN]: "…",
  [SOMETHING]: "…",
  [STAR]: "*",
  [QUESTION]: "?",
  [BRACKET]: "[…]",
  [DEEP]: "**",
  [MANY]: "**",
  [EACH]: "…",
};

/** Whether every character of the text is certain. */
export function isCertain(text: string): boolean {
  return !ANY_MARK.test(text);
}

/** Whether the text contains an unknown part; active globs do not count. */
export function isUnresolved(text: string): boolean {
  return text.includes(UNKNOWN) || text.includes(SOMETHING) || text.includes(EACH);
}

export function hasGlob(text: string): boolean {
  return text.includes(STAR) || text.includes(QUESTION) || text.includes(BRACKET);
}

/** The text in readable form. */
export function shown(text: string): string {
  const readable = text.replace(ALL_MARKS, (mark) => SHOWN[mark] ?? "\uFFFD");
  return readable.isWellFormed()
    ? readable
    : readable.replace(STRAY_BYTE, (mark) => `\\x${(mark.charCodeAt(0) & 0xff).toString(16)}`);
}

/** Replaces characters that are marks in text from outside, such as a decoded escape. */
export function unmarked(text: string): string {
  return ANY_MARK.test(text) ? text.replace(ALL_MARKS, "\uFFFD") : text;
}
