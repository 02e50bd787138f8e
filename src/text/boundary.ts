// Positions at which a text can be cut: never inside a surrogate pair, and not inside a short combining sequence
// (accents, emoji joined by ZWJ, CRLF).
import { GRAPHEME_SEARCH_MAX_CHARS } from "../support/limits.ts";

/** The last position at or before `index` where the text can end. */
export function boundaryBefore(text: string, index: number): number {
  if (index >= text.length) return text.length;
  for (let at = index; at > Math.max(0, index - GRAPHEME_SEARCH_MAX_CHARS); at--) {
    if (isBoundary(text, at)) return at;
  }
  return splitsPair(text, index) ? index - 1 : index;
}

/** The first position at or after `index` where the text can begin. */
export function boundaryAfter(text: string, index: number): number {
  if (index <= 0) return 0;
  for (let at = index; at < Math.min(text.length, index + GRAPHEME_SEARCH_MAX_CHARS); at++) {
    if (isBoundary(text, at)) return at;
  }
  return splitsPair(text, index) ? index + 1 : index;
}

function isBoundary(text: string, at: number): boolean {
  if (at === 0 || at >= text.length) return true;
  if (splitsPair(text, at)) return false;
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  // The common case: between two ASCII or Latin characters.
  if (before < 0x300 && after < 0x300) return !(before === CARRIAGE_RETURN && after === LINE_FEED);
  return before !== ZERO_WIDTH_JOINER && !EXTENDS.test(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function splitsPair(text: string, at: number): boolean {
  return isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const ZERO_WIDTH_JOINER = 0x200d;

// Combining marks, variation selectors (both \p{M}), the joiner itself and skin tones.
const EXTENDS = /\p{M}|\u200d|[\u{1f3fb}-\u{1f3ff}]/u;
