// Brace expansion of raw text: `{a,b}`, `{1..9}`, nested. Leaves quotes and expansions inside the braces unchanged.

import { POLICY_BRACES_MAX_COUNT, POLICY_WIDE_RANGE_COUNT } from "../../support/limits.ts";
import type { Budget } from "./budget.ts";
import { EACH } from "./marks.ts";

/** The alternatives of one `{…}`, or null if there are too many to list. */
export function expandBraces(text: string, budget: Budget): readonly string[] | null {
  // Each nesting level reads the text again.
  budget.spend(1 + text.length / CHARS_PER_STEP);
  const inner = text.slice(1, -1);
  const range = RANGE.exec(inner);
  if (range) return expandRange(range);
  const alternatives: string[] = [];
  for (const piece of splitTopLevel(inner)) {
    const expanded = expandInside(piece, budget);
    if (expanded === null || alternatives.length + expanded.length > POLICY_BRACES_MAX_COUNT) return null;
    alternatives.push(...expanded);
  }
  return alternatives;
}

const CHARS_PER_STEP = 16;

const RANGE = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/;

function expandRange([, from = "", to = "", by]: RegExpExecArray): readonly string[] | null {
  const letters = /[A-Za-z]/.test(from + to);
  const start = letters ? (from.codePointAt(0) ?? 0) : Number(from);
  const end = letters ? (to.codePointAt(0) ?? 0) : Number(to);
  const step = Math.abs(Number(by ?? 1)) || 1;
  const count = Math.abs(end - start) / step;
  if (!letters && count >= POLICY_WIDE_RANGE_COUNT) return [EACH];
  if (count >= POLICY_BRACES_MAX_COUNT) return null;
  const values: string[] = [];
  for (let i = 0; i <= Math.abs(end - start); i += step) {
    const value = start < end ? start + i : start - i;
    values.push(letters ? String.fromCodePoint(value) : String(value));
  }
  return values;
}

/** Splits at the commas of the outermost level. */
function splitTopLevel(text: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  let level = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === "{" || token === "(") level += 1;
    else if (token === "}" || token === ")") level -= 1;
    else if (token === "," && level === 0) {
      pieces.push(text.slice(start, index));
      start = index + 1;
    }
  }
  pieces.push(text.slice(start));
  return pieces;
}

/** Quoted text is one token, so commas inside quotes do not separate alternatives. */
const TOKENS = /\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[{}(),]/gs;

/** Expands the first group nested in an alternative, then the rest of the alternative. */
function expandInside(piece: string, budget: Budget): readonly string[] | null {
  const group = firstGroup(piece);
  if (group === null) return [piece];
  const inner = expandBraces(piece.slice(group.start, group.end), budget);
  const tails = expandInside(piece.slice(group.end), budget);
  if (inner === null || tails === null || inner.length * tails.length > POLICY_BRACES_MAX_COUNT) return null;
  return inner.flatMap((middle) => tails.map((tail) => piece.slice(0, group.start) + middle + tail));
}

function firstGroup(text: string): { readonly start: number; readonly end: number } | null {
  const start = text.search(/(?<![$\\])\{/);
  if (start < 0) return null;
  let level = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === "{") level += 1;
    else if (text[i] === "}") level -= 1;
    if (level === 0) {
      const inner = text.slice(start + 1, i);
      return inner.includes(",") || RANGE.test(inner) ? { start, end: i + 1 } : null;
    }
  }
  return null;
}
