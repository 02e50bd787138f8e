// Providers refuse a whole request for one keyword they do not know. What a format cannot carry as a keyword
// is said in the description instead, so that the model still learns it before it fails.

import { listed } from "../excerpt.ts";
import type { JsonSchema } from "./json-schema.ts";

const WORDS: Readonly<Record<string, (value: unknown) => string>> = {
  default: (value) => `default ${JSON.stringify(value)}`,
  enum: (value) => (Array.isArray(value) ? `one of ${listed(value.map(String))}` : ""),
  minLength: (value) => `at least ${value} character${value === 1 ? "" : "s"}`,
  maxLength: (value) => `at most ${value} character${value === 1 ? "" : "s"}`,
  exclusiveMinimum: (value) => `greater than ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
  format: (value) => `format ${value}`,
};

/** Only the keywords a format knows; the others in words, at the end of the description. */
export function keepKnown(schema: JsonSchema, known: ReadonlySet<string>): JsonSchema {
  const dropped = Object.entries(schema).filter(([keyword]) => !known.has(keyword));
  const words = dropped.map(([keyword, value]) => WORDS[keyword]?.(value)).filter(Boolean);
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => known.has(keyword)));
  if (words.length === 0) return kept;
  return { ...kept, description: `${schema.description ?? ""} (${words.join(", ")})`.trim() };
}
