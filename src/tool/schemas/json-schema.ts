// A zod object as the plain JSON Schema every provider format starts from: closed objects, no `$ref`, no
// `$schema`, unions as `anyOf`, and no bound that was not written.

import { z } from "zod";

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

/** Throws where the zod object says something that JSON Schema, or a model, could not follow. */
export function toJsonSchema(input: z.ZodObject): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input", cycles: "throw", reused: "inline" });
  return { ...tidy(schema as JsonSchema), additionalProperties: false };
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
    throw new TypeError("A tool's schema must not use tuples: take an object instead");
  return {
    ...(type !== undefined && { type }),
    ...(description !== undefined && { description }),
    ...withoutImpliedBounds(type, rest),
    ...inside(node),
  };
}

function inside({ properties, additionalProperties, items, anyOf, oneOf, allOf }: JsonSchema): JsonSchema {
  return {
    ...(items && { items: tidy(items) }),
    ...(anyOf && { anyOf: anyOf.map(tidy) }),
    // No provider knows oneOf; for what zod means by it (a tagged union) anyOf accepts the same values.
    ...(Array.isArray(oneOf) && { anyOf: oneOf.map(tidy) }),
    ...(Array.isArray(allOf) && { allOf: allOf.map(tidy) }),
    ...(properties && {
      properties: mapValues(properties, tidy),
      additionalProperties: additionalProperties ?? false,
    }),
    ...(typeof additionalProperties === "object" && { additionalProperties: tidy(additionalProperties) }),
  };
}

// zod gives every integer the bounds of what JavaScript can hold exactly. They were not asked for, they cost
// tokens, and some providers read them as 32-bit overflows. `> 0` and `>= 1` are the same for an integer, and
// the second is what all providers understand.
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
