// The input of one tool. Derives these parts from the tool's zod object, so that they cannot contradict each other:
//   jsonSchema    the schema that a model sees
//   parameters    the same parameters as a flat list
//   validate      checks each call; rejects unknown parameters, except in nested objects that the tool's author declared
//                 as loose (z.looseObject)
//
// Differences between the JSON Schema and the check:
// - null for an optional parameter counts as absent, because OpenAI's strict mode makes models send every parameter
// - an integer must be in the range that JavaScript represents exactly
// - zod tolerates a rounding error in multipleOf, and drops `__proto__` from loose objects

import { z } from "zod";
import { excerpt } from "../support/excerpt.ts";
import { MESSAGE_LIST_MAX_COUNT } from "../support/limits.ts";
import { knownParameters, problemOf } from "./problem.ts";
import { frozenCopy } from "./result.ts";
import {
  type JsonSchema,
  type JsonType,
  type ParametersSchema,
  toJsonSchema,
} from "./schemas/json-schema.ts";

export type Validated<T> = { readonly value: T } | { readonly problem: string };

export class ToolInput<Input extends z.ZodObject> {
  readonly jsonSchema: ParametersSchema;
  readonly parameters: readonly ToolParameter[];
  readonly #closed: Input;

  constructor(input: Input) {
    // Close the top level even if the tool's author declared it as loose. A nested object that the author declared as
    // loose (z.looseObject) stays loose.
    this.#closed = close(input.catchall(z.never())) as Input;
    this.jsonSchema = frozenCopy(toJsonSchema(input));
    this.parameters = parametersOf(this.jsonSchema);
  }

  /** The arguments with their defaults, or all problems in one message. */
  validate(args: unknown): Validated<z.output<Input>> {
    if (!isRecord(args)) {
      return {
        problem: `Arguments must be an object of named parameters, got ${excerpt(args)}. ${knownParameters(this.jsonSchema)}`,
      };
    }
    let described = 0;
    const parsed = this.#closed.safeParse(ownArguments(this.#closed, args), {
      // Describe only the first problems and count the rest: there can be a million.
      error: (issue) => (described++ < MESSAGE_LIST_MAX_COUNT ? problemOf(issue, this.jsonSchema) : ""),
    });
    return parsed.success ? { value: parsed.data } : { problem: messages(parsed.error.issues).join("; ") };
  }
}

function messages(all: readonly z.core.$ZodIssue[]): string[] {
  const issues = all.filter((issue, i) => !isRepeated(issue, all[i - 1]));
  const shown = issues.slice(0, MESSAGE_LIST_MAX_COUNT).map((issue) => issue.message);
  const more = issues.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more problems`] : shown;
}

// If the caller passes an array instead of a string, zod reports both its type and its length. Keep only the first
// problem.
function isRepeated(issue: z.core.$ZodIssue, previous: z.core.$ZodIssue | undefined): boolean {
  return previous?.code === "invalid_type" && previous.path.join(".") === issue.path.join(".");
}

// Keys of a zod definition that contain one schema, and keys that contain a list of schemas.
const SINGLE_SCHEMA_KEYS = ["innerType", "element", "valueType", "in", "out", "left", "right"];
const SCHEMA_LIST_KEYS = ["options"];

/** Closes nested objects, because zod would silently drop an unknown parameter. */
function close(schema: z.core.$ZodType): z.core.$ZodType {
  const def: object = schema._zod.def;
  const changes = Object.entries(def).flatMap(([key, part]: [string, unknown]): [string, unknown][] => {
    if (SINGLE_SCHEMA_KEYS.includes(key) && isSchema(part)) return [[key, close(part)]];
    if (SCHEMA_LIST_KEYS.includes(key) && Array.isArray(part))
      return [[key, part.filter(isSchema).map(close)]];
    return [];
  });
  const inside = { ...def, ...Object.fromEntries(changes) } as object as z.core.$ZodTypeDef;
  if (!(schema instanceof z.ZodObject)) return z.core.clone(schema, inside);

  const shape = Object.fromEntries(Object.entries(schema.shape).map(([key, field]) => [key, close(field)]));
  const catchall = schema.def.catchall ?? z.never();
  return z.core.clone<z.core.$ZodType>(schema, { ...inside, shape, catchall } as z.core.$ZodObjectDef);
}

function isSchema(part: unknown): part is z.core.$ZodType {
  return part instanceof z.core.$ZodType;
}

/**
 * A copy of untrusted arguments for zod. It contains only own properties, because zod would also read inherited
 * properties.
 */
function ownArguments(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isRecord(value)) return ownProperties(inner, value);
  if (inner instanceof z.ZodArray && Array.isArray(value) && holdsObjects(inner)) {
    return value.map((item) => ownArguments(inner.element, item));
  }
  return value;
}

function ownProperties(object: z.ZodObject, value: object): object {
  // The copy has no prototype, so that `__proto__` is an ordinary name.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(object.shape, key) ? object.shape[key] : undefined;
    const given: unknown = Reflect.get(value, key);
    if (field === undefined) copy[key] = given;
    else if (!isNullForAbsent(field, given)) copy[key] = ownArguments(field, given);
  }
  return copy;
}

function isNullForAbsent(field: z.core.$ZodType, given: unknown): boolean {
  return given === null && accepts(field, undefined) && !accepts(field, null);
}

function accepts(field: z.core.$ZodType, value: unknown): boolean {
  return z.safeParse(field, value).success;
}

/** The schema inside optional, default, nullable and similar wrappers. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const def = schema._zod.def as { readonly innerType?: z.core.$ZodType };
  return def.innerType === undefined ? schema : unwrap(def.innerType);
}

// A long array of plain values needs no copy.
function holdsObjects(array: z.ZodArray): boolean {
  const element = unwrap(array.element);
  return element instanceof z.ZodObject || element instanceof z.ZodArray;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type ParameterType = JsonType | "any";

/** One parameter, for people and for hosts that draw forms. */
export class ToolParameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly description: string;
  readonly required: boolean;
  readonly default: unknown;
  readonly enum: readonly unknown[] | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly #schema: JsonSchema;

  constructor(name: string, schema: JsonSchema, required: boolean) {
    this.name = name;
    this.type = typeOf(schema);
    this.description = schema.description ?? "";
    this.required = required;
    this.default = schema.default;
    this.enum = schema.enum;
    this.minimum = schema.minimum;
    this.maximum = schema.maximum;
    this.minLength = schema.minLength;
    this.maxLength = schema.maxLength;
    this.#schema = schema;
    Object.freeze(this);
  }

  /** The JSON Schema of this parameter. A copy that the caller may change. */
  toJsonSchema(): JsonSchema {
    return structuredClone(this.#schema);
  }
}

function parametersOf({ properties = {}, required = [] }: JsonSchema): readonly ToolParameter[] {
  return Object.freeze(
    Object.entries(properties).map(
      ([name, property]) => new ToolParameter(name, property, required.includes(name)),
    ),
  );
}

/** The type of the parameter's non-null values; "any" if the schema names no type for them. */
function typeOf(schema: JsonSchema): ParameterType {
  const types = [schema, ...(schema.anyOf ?? [])].flatMap(({ type }) => type ?? []);
  return types.find((type) => type !== "null") ?? "any";
}
