// Short forms of untrusted values for messages. A long value is cut. Getters and toString of a value are never called.

import { EXCERPT_MAX_CHARS, MESSAGE_LIST_MAX_COUNT } from "./limits.ts";
import { printable } from "./printable.ts";

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

/** Text in quotes, with control and invisible characters escaped. If it is cut, its length follows. */
export function quotedExcerpt(text: string): string {
  // JSON escapes only ASCII control characters, but a terminal also interprets control characters above ASCII.
  const quoted = printable(JSON.stringify(text.slice(0, EXCERPT_MAX_CHARS)));
  return text.length <= EXCERPT_MAX_CHARS ? quoted : `${quoted}… (${text.length} characters)`;
}

/** The first items, separated by commas, and how many more there are. */
export function listed(
  items: readonly string[],
  total = items.length,
  maxCount = MESSAGE_LIST_MAX_COUNT,
): string {
  const shown = items.slice(0, maxCount);
  const more = total - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${more} more` : shown.join(", ");
}
