// Short forms of untrusted values for messages. A long value is cut. Getters and toString of a value are never called.

import { EXCERPT_MAX_CHARS, MESSAGE_LIST_MAX_COUNT } from "./limits.ts";

/** A value inside a sentence: `the string "1000"`, `null`, `an array`, `NaN`. */
export function excerpt(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `the string ${quotedExcerpt(value)}`;
    case "bigint":
    case "symbol":
    case "function":
      return `a ${typeof value}`;
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
    default:
      return String(value);
  }
}

/** Text in quotes. If it is cut, its length follows. */
export function quotedExcerpt(text: string): string {
  if (text.length <= EXCERPT_MAX_CHARS) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, EXCERPT_MAX_CHARS))}… (${text.length} characters)`;
}

/** The first items, separated by commas, and the number of the others. */
export function listed(
  items: readonly string[],
  total = items.length,
  maxCount = MESSAGE_LIST_MAX_COUNT,
): string {
  const shown = items.slice(0, maxCount);
  const more = total - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
