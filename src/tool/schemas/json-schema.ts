// A zod object as plain JSON Schema: closed objects, no `$ref`, no `$schema`, unions as `anyOf`, and only the bounds
// that the author wrote. Every provider format starts from it.

import { z } from "zod";
import { listed } from "../../support/excerpt.ts";

export type JsonType = "string" | "integer" | "number" | "boolean" | "array" | "object" | "null";

export interface JsonSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** The schema of a tool's parameters. `required` is mutable because the types of provider SDKs demand it. */
export interface ParametersSchema extends JsonSchema {
  readonly type: "object";
  readonly required?: string[];
}

/** Throws if the zod object has a part that JSON Schema cannot express or a model cannot handle. */
export function toJsonSchema(input: z.ZodObject): ParametersSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input", cycles: "throw", reused: "inline" });
  const { required, ...rest } = tidy(schema as JsonSchema);
  return {
    ...rest,
    type: "object",
    ...(required && { required: [...required] }),
    additionalProperties: false,
  };
}

function tidy(node: JsonSchema): JsonSchema {
  if (Array.isArray(node.type)) {
    const { type: types, ...rest } = node;
    return tidy({ ...rest, anyOf: types.map((type: JsonType) => ({ type })) });
  }
  const { type, description, $ref, ...rest } = node;
  if ($ref !== undefined) {
    throw new TypeError(`A tool's schema must not use references (${$ref}): leave out .meta({ id })`);
  }
  if ("prefixItems" in rest)
    throw new TypeError("A tool's schema must not use tuples: use an object instead");
  return {
    ...(type !== undefined && { type }),
    ...(description !== undefined && { description }),
    ...withoutImpliedBounds(type, rest),
    ...tidyNested(node),
  };
}

function tidyNested({
  properties,
  additionalProperties,
  items,
  anyOf,
  oneOf,
  allOf,
}: JsonSchema): JsonSchema {
  return {
    ...(items && { items: tidy(items) }),
    ...(anyOf && { anyOf: anyOf.map(tidy) }),
    // No provider supports oneOf. zod uses oneOf for tagged unions; for these, anyOf accepts the same values.
    ...(Array.isArray(oneOf) && { anyOf: oneOf.map(tidy) }),
    ...(Array.isArray(allOf) && { allOf: allOf.map(tidy) }),
    ...(properties && {
      properties: mapValues(properties, tidy),
      additionalProperties: additionalProperties ?? false,
    }),
    ...(typeof additionalProperties === "object" && { additionalProperties: tidy(additionalProperties) }),
  };
}

// zod bounds every integer by the range that JavaScript represents exactly. These bounds cost tokens, and some
// providers reject them as 32-bit overflows. This function also writes `> 0` for an integer as `>= 1`, because every
// provider supports `>=`.
function withoutImpliedBounds(type: JsonSchema["type"], { oneOf: _, ...rest }: JsonSchema): JsonSchema {
  if (type !== "integer") return rest;
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, ...other } = rest;
  const least = Math.max(minimum ?? -Infinity, above === undefined ? -Infinity : Math.floor(above) + 1);
  const most = Math.min(maximum ?? Infinity, below === undefined ? Infinity : Math.ceil(below) - 1);
  return {
    ...other,
    ...(least > Number.MIN_SAFE_INTEGER && { minimum: least }),
    ...(most < Number.MAX_SAFE_INTEGER && { maximum: most }),
  };
}

export function mapValues<V, W>(
  record: Readonly<Record<string, V>>,
  change: (value: V, key: string) => W,
): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

/**
 * Keeps only the keywords that a format supports, because a provider refuses a request with an unknown keyword. Adds
 * the dropped keywords to the description, so that the model still knows them.
 */
export function keepKnown(schema: JsonSchema, known: ReadonlySet<string>): JsonSchema {
  const dropped = Object.entries(schema).filter(([keyword]) => !known.has(keyword));
  const remarks = dropped.map(([keyword, value]) => DESCRIPTIONS[keyword]?.(value)).filter(Boolean);
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => known.has(keyword)));
  if (remarks.length === 0) return kept;
  return { ...kept, description: `${schema.description ?? ""} (${remarks.join(", ")})`.trim() };
}

const DESCRIPTIONS: Readonly<Record<string, (value: unknown) => string>> = {
  default: (value) => `default ${JSON.stringify(value)}`,
  enum: (value) => (Array.isArray(value) ? `one of ${listed(value.map(String))}` : ""),
  minLength: (value) => `at least ${value} character${value === 1 ? "" : "s"}`,
  maxLength: (value) => `at most ${value} character${value === 1 ? "" : "s"}`,
  exclusiveMinimum: (value) => `greater than ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
  format: (value) => `format ${value}`,
};
