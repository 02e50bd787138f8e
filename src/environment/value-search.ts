// Finds the values of secrets in a text, in every notation of spellings.ts.
//   new ValueSearch(values)   once per list: stores the values, and a table of their possible first two characters
//   scan(text, from)          finds the positions of values, and of a value that may continue after the end of the text
// At a position whose two characters are in the table, #endOf() compares the value with the text, character by
// character.
import { REDACT_LINE_MIN_CHARS, REDACT_VALUE_MIN_CHARS } from "../support/limits.ts";
import {
  BACKSLASH,
  backslashesAt,
  escapedAt,
  foldEnd,
  isCutSpelling,
  LINE_FEED,
  spellingsAt,
  startsSpelling,
} from "./spellings.ts";

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface FoundValue {
  readonly at: number;
  readonly end: number;
  readonly name: string;
}

export interface ValueScan {
  readonly found: readonly FoundValue[];
  /** The start of the first value that more text could complete or extend; the length of the text if there is none. */
  readonly openAt: number;
}

export class ValueSearch {
  /** The values to find, by their first code point. */
  readonly #wanted = new Map<number, NamedValue[]>();
  /** Indexed by the low bytes of a pair of characters: 1 if a value can start with this pair. */
  readonly #pairs = new Uint8Array(0x10000);
  /** Whether a value may continue after the end of the text. */
  #isOpen = false;

  constructor(values: readonly NamedValue[]) {
    const seen = new Set<string>();
    for (const { name, value } of values.flatMap(formsOf)) {
      if (seen.has(value)) continue;
      seen.add(value);
      this.#add({ name, value });
    }
  }

  scan(text: string, from: number): ValueScan {
    const found: FoundValue[] = [];
    let openAt = text.length;
    if (this.#wanted.size === 0) return { found, openAt };
    const pairs = this.#pairs;
    const last = text.length - 1;
    for (let at = from; at <= last; at++) {
      const pair = ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
      if (pairs[pair] === 0 && at < last) continue;
      this.#isOpen = false;
      const longest = this.#longestAt(text, at);
      if (longest !== undefined) found.push(longest);
      if (this.#isOpen && openAt === text.length) openAt = at;
    }
    return { found, openAt };
  }

  #add(wanted: NamedValue): void {
    const { value } = wanted;
    const code = value.codePointAt(0) ?? 0;
    this.#wanted.set(code, [...(this.#wanted.get(code) ?? []), wanted]);
    const first = value.charCodeAt(0);
    const row = (start: number) => this.#pairs.fill(1, (start & 0xff) << 8, ((start & 0xff) + 1) << 8);
    for (const start of "\\%&") row(start.charCodeAt(0));
    // A program can leave out a line feed after the first character, so any character can follow.
    if (startsSpelling(first) || value.charCodeAt(1) === LINE_FEED) row(first);
    // Every character has notations that start with \, % and &. A space can also be a plus sign.
    for (const second of `${value.charAt(1)}\\%&${value.charAt(1) === " " ? "+" : ""}`) {
      this.#pairs[((first & 0xff) << 8) | (second.charCodeAt(0) & 0xff)] = 1;
    }
  }

  #longestAt(text: string, at: number): FoundValue | undefined {
    const first = text.charCodeAt(at);
    let longest: FoundValue | undefined;
    const follow = (code: number, done: number, from: number): void => {
      for (const { name, value } of this.#wanted.get(code) ?? []) {
        const end = this.#endOf(value, done, text, from);
        if (end > (longest?.end ?? at)) longest = { at, end, name };
      }
    };
    if (!startsSpelling(first)) {
      follow(text.codePointAt(at) ?? 0, 0, at);
      return longest;
    }
    const readings = this.#firstReadings(text, at);
    for (let index = 0; index < readings.length; index += 2) {
      const code = readings[index] ?? 0;
      const end = readings[index + 1] ?? at;
      follow(code, end === at ? 0 : code > 0xffff ? 2 : 1, end);
    }
    return longest;
  }

  #firstReadings(text: string, at: number): readonly number[] {
    const code = text.charCodeAt(at);
    const mayStart = !LINE_BREAK.has(code) || this.#wanted.has(LINE_FEED);
    if (mayStart && isCutSpelling(text, at)) this.#isOpen = true;
    if (code !== BACKSLASH) return spellingsAt(text, at);
    // A value can begin at the start of a row of backslashes, but not inside it.
    if (text.charCodeAt(at - 1) === BACKSLASH) return [];
    const count = backslashesAt(text, at);
    return count === 0 ? [] : [BACKSLASH, at, ...escapedAt(text, at + count, count)];
  }

  /** The end of `value` in the text, or -1. The first `done` characters of `value` are already matched. */
  #endOf(value: string, done: number, text: string, from: number): number {
    let furthest = -1;
    const states = [done, from];
    let seen: Set<number> | undefined;
    while (states.length > 0) {
      let at = states.pop() ?? 0;
      let index = states.pop() ?? 0;
      let code = text.charCodeAt(at);
      while (index < value.length && code === value.charCodeAt(index) && !startsSpelling(code)) {
        index++;
        code = text.charCodeAt(++at);
      }
      if (index === value.length) {
        furthest = Math.max(furthest, at);
        continue;
      }
      if (at >= text.length) {
        this.#isOpen = true;
        continue;
      }
      if (!startsSpelling(code) && value.charCodeAt(index) !== LINE_FEED) continue;
      // Notations are ambiguous, so the search can reach one state in several ways. Follow each state only once.
      const key = at * 0x40000 + index;
      seen ??= new Set();
      if (seen.has(key)) continue;
      seen.add(key);
      this.#branch(states, { value, index, text, at });
    }
    return furthest;
  }

  #branch(states: number[], { value, index, text, at }: Step): void {
    const code = text.charCodeAt(at);
    // Some programs join lines without a separator.
    if (value.charCodeAt(index) === LINE_FEED) states.push(index + 1, at);
    if (!startsSpelling(code)) return;
    const mayFold = index >= FOLD_MIN_CHARS || value.charCodeAt(index) === LINE_FEED;
    if ((mayFold || !LINE_BREAK.has(code)) && isCutSpelling(text, at)) this.#isOpen = true;
    if (code === BACKSLASH) {
      branchAtBackslash(states, { value, index, text, at });
      return;
    }
    take(states, value, index, spellingsAt(text, at));
    const folded = index < FOLD_MIN_CHARS ? -1 : foldEnd(text, at);
    if (folded !== -1) states.push(index, folded);
  }
}

/**
 * A line break can split a value only after this many characters. Without a minimum, every line that ends like the
 * start of a value would be held back.
 */
const FOLD_MIN_CHARS = REDACT_VALUE_MIN_CHARS;
const LINE_BREAK = new Set([0x0a, 0x0d]);

interface Step {
  readonly value: string;
  readonly index: number;
  readonly text: string;
  readonly at: number;
}

// Each level of quoting doubles the backslashes of the value and adds more. So a row of backslashes in the text
// matches every row of backslashes in the value that is not longer.
function branchAtBackslash(states: number[], { value, index, text, at }: Step): void {
  const count = backslashesAt(text, at);
  const own = backslashesAt(value, index);
  const end = at + count;
  // The backslash itself can be escaped: \u005c.
  if (own > 0 && count > 0) take(states, value, index, escapedAt(text, end, count));
  if (count === 0 || count < own) return;
  const next = index + own;
  if (own > 0) states.push(next, end);
  if (count === own) return;
  take(states, value, next, escapedAt(text, end, count));
  // A backslash at the end of a line continues the line.
  const folded = index < FOLD_MIN_CHARS ? -1 : foldEnd(text, end);
  if (folded !== -1) states.push(next, folded);
}

function take(states: number[], value: string, index: number, readings: readonly number[]): void {
  const wanted = value.codePointAt(index) ?? -1;
  for (let at = 0; at < readings.length; at += 2) {
    const end = readings[at + 1];
    if (readings[at] === wanted && end !== undefined) states.push(index + (wanted > 0xffff ? 2 : 1), end);
  }
}

/** The texts to search for: the value, its lines if it has several, and its base64 forms. */
function formsOf({ name, value }: NamedValue): NamedValue[] {
  if (value.length < REDACT_VALUE_MIN_CHARS) return [];
  const text = value.replace(/\r\n?/g, "\n");
  return [text, ...linesOf(text), ...base64Of(value)].map((form) => ({ name, value: form }));
}

// Leaves out short lines, lines of ordinary words and the delimiters of a PEM block, because these also occur in
// other text.
function linesOf(text: string): string[] {
  if (!text.includes("\n")) return [];
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => LONG_WORD.test(line) && !line.startsWith("-----"));
}

const LONG_WORD = new RegExp(`\\S{${REDACT_LINE_MIN_CHARS}}`);

// base64 encodes groups of three bytes. In a longer text, a value can begin at any of the three positions in a group,
// which gives three forms. Each form leaves out the characters that also encode neighboring bytes.
function base64Of(value: string): string[] {
  const bytes = Buffer.from(value);
  const inside = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64url");
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
  return inside.flatMap((form) => [form, form.replaceAll("-", "+").replaceAll("_", "/")]);
}
