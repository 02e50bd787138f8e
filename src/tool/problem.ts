// One problem with the arguments of a call, as a sentence that a model can act on. zod finds the problem; this file
// writes the sentence. A message that the tool's author gave to a zod check replaces this sentence.

import type { z } from "zod";
import { excerpt, listed, quotedExcerpt } from "../support/excerpt.ts";
import { EXCERPT_MAX_CHARS, MESSAGE_LIST_MAX_COUNT } from "../support/limits.ts";
import { nearest } from "../support/nearest.ts";
import type { JsonSchema } from "./schemas/json-schema.ts";

export function problemOf(issue: z.core.$ZodRawIssue, schema: JsonSchema): string {
  const path = issue.path ?? [];
  const name = nameOf(path);
  const expected = schemaAt(schema, path);
  if (issue.code === "unrecognized_keys") return unknownKeys(issue.keys, path, expected);
  if (issue.input === undefined && issue.code !== "custom") {
    return `Missing required parameter: ${name} (${expectedType(expected, issue).replace(/^an? /, "")})`;
  }
  const subject = path.length === 0 ? "The set of arguments" : `Parameter ${name}`;
  return `${subject} ${complaint(issue, expected)}`;
}

/** A sentence that lists the parameters of an object. */
export function knownParameters({ properties = {} }: JsonSchema): string {
  const names = Object.keys(properties);
  return names.length === 0 ? "This tool takes no parameters" : `Known parameters: ${listed(names)}`;
}

function unknownKeys(keys: readonly string[], path: readonly PropertyKey[], at: JsonSchema = {}): string {
  const prefix = path.length === 0 ? "" : `${nameOf(path)}.`;
  const names = keys.slice(0, MESSAGE_LIST_MAX_COUNT).map((key) => quotedExcerpt(prefix + key));
  const [only = ""] = keys.length === 1 ? keys : [];
  const near = nearestName(only, Object.keys(at.properties ?? {}));
  const hint = near === undefined ? "" : ` Did you mean ${prefix}${near}?`;
  return `Unknown parameter${keys.length > 1 ? "s" : ""}: ${listed(names, keys.length)}.${hint} ${knownParameters(at)}`;
}

/** Skips a very long name, because the comparison takes quadratic time. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > EXCERPT_MAX_CHARS) return undefined;
  return nearest(name, known) ?? sameEnding(name, known);
}

/** The parameter with the same last word, if there is only one: bash_id for shell_id. */
function sameEnding(name: string, known: readonly string[]): string | undefined {
  const ending = /_[a-z]+$/.exec(name)?.[0];
  const [only, ...more] = ending === undefined ? [] : known.filter((one) => one.endsWith(ending));
  return more.length === 0 ? only : undefined;
}

function complaint(issue: z.core.$ZodRawIssue, expected: JsonSchema | undefined): string {
  const got = `got ${excerpt(issue.input)}`;
  switch (issue.code) {
    case "invalid_type":
    case "invalid_union":
      return `must be ${expectedType(expected, issue)}, ${got}`;
    case "invalid_value":
      return `must be ${oneOf(issue.values)}, ${got}`;
    case "too_small":
      return tooSmall(issue);
    case "too_big":
      return tooBig(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}, ${got}`;
    case "invalid_format":
      return `must ${issue.pattern ? `match ${issue.pattern}` : `be a valid ${issue.format}`}, ${got}`;
    default:
      return `is not valid, ${got}`;
  }
}

function tooSmall(issue: Extract<z.core.$ZodRawIssue, { code: "too_small" }>): string {
  const unit = UNITS[issue.origin];
  if (unit) return `is too short: at least ${count(issue.minimum, unit)}, got ${sizeOf(issue.input)}`;
  return `must be ${issue.inclusive ? "at least" : "greater than"} ${issue.minimum}, got ${excerpt(issue.input)}`;
}

function tooBig(issue: Extract<z.core.$ZodRawIssue, { code: "too_big" }>): string {
  const unit = UNITS[issue.origin];
  if (unit) return `is too long: at most ${count(issue.maximum, unit)}, got ${sizeOf(issue.input)}`;
  return `must be ${issue.inclusive ? "at most" : "less than"} ${issue.maximum}, got ${excerpt(issue.input)}`;
}

const UNITS: Readonly<Record<string, string>> = { string: "character", array: "item" };

function count(bound: number | bigint, unit: string): string {
  return `${bound} ${unit}${Number(bound) === 1 ? "" : "s"}`;
}

// Counts code points, as JSON Schema does.
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  let size = 0;
  for (const _ of String(value)) size++;
  return size;
}

function nameOf(path: readonly PropertyKey[]): string {
  const dotted = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return dotted.replace(/^\./, "") || "arguments";
}

function schemaAt(schema: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>(
    (at, key) => (typeof key === "number" ? at?.items : at?.properties?.[String(key)]),
    schema,
  );
}

// Uses the JSON Schema, which says `integer` where zod says `number`.
function expectedType(expected: JsonSchema | undefined, issue: z.core.$ZodRawIssue): string {
  if (expected?.enum !== undefined) return oneOf(expected.enum);
  const options = expected?.anyOf?.flatMap(({ type }) => type ?? []) ?? [];
  if (options.length > 0) return options.map(withArticle).join(" or ");
  return withArticle(expected?.type?.toString() ?? String(issue.expected ?? "a valid value"));
}

function oneOf(values: readonly unknown[]): string {
  return `one of [${listed(values.map(String))}]`;
}

function withArticle(type: string): string {
  if (type === "null" || type.includes(" ")) return type;
  return `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}
