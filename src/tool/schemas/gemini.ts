// Gemini's FunctionDeclaration. Its Schema is a small part of OpenAPI 3.0; Gemini refuses everything else
// (`additionalProperties`, exclusive bounds, `const`, enums of numbers). Types are in upper case. Counts are strings,
// because Gemini defines them as 64-bit integers. The declarations belong under `functionDeclarations`.

import type { BaseTool } from "../tool.ts";
import { type JsonSchema, keepKnown, mapValues } from "./json-schema.ts";

export interface GeminiTool {
  readonly name: string;
  readonly description: string;
  /** Absent if the tool has no parameters, because Gemini refuses an object without properties. */
  readonly parameters?: GeminiSchema;
}

export interface GeminiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly items?: GeminiSchema;
  readonly properties?: Readonly<Record<string, GeminiSchema>>;
  readonly required?: readonly string[];
  readonly propertyOrdering?: readonly string[];
  readonly anyOf?: readonly GeminiSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly minLength?: string;
  readonly maxLength?: string;
  readonly minItems?: string;
  readonly maxItems?: string;
}

export function toGemini(tool: BaseTool): GeminiTool {
  const { name, description } = tool;
  const parameters = convert(tool.toJsonSchema());
  return Object.keys(parameters.properties ?? {}).length > 0
    ? { name, description, parameters }
    : { name, description };
}

const COUNTS = ["minLength", "maxLength", "minItems", "maxItems"];
const KNOWN = new Set(["type", "description", "enum", "minimum", "maximum", "pattern", ...COUNTS]);

function convert(node: JsonSchema): GeminiSchema {
  const schema = withStringEnum(node);
  const options = schema.anyOf?.filter(({ type }) => type !== "null");
  const nullable = options !== undefined && options.length < (schema.anyOf?.length ?? 0);
  const [only, ...others] = options ?? [];
  // A union of one type and null becomes that type with `nullable`.
  if (only !== undefined && nullable && others.length === 0) {
    const { anyOf: _, ...around } = schema;
    return { ...convert({ ...only, ...around }), nullable: true };
  }

  const { type, ...known } = keepKnown(schema, KNOWN);
  return {
    ...(type !== undefined && { type: String(type).toUpperCase() }),
    ...(schema.enum && { format: "enum" }),
    ...mapValues(known, (value, keyword) => (COUNTS.includes(keyword) ? String(value) : value)),
    ...(options && { anyOf: options.map(convert) }),
    ...(nullable && { nullable: true }),
    ...(schema.items && { items: convert(schema.items) }),
    ...(schema.properties && objectParts(schema.properties, schema.required)),
  };
}

function objectParts(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[] = []) {
  return {
    properties: mapValues(properties, convert),
    ...(required.length > 0 && { required }),
    propertyOrdering: Object.keys(properties),
  };
}

// A constant string becomes an enum with one value. Choices that are not strings move to the description.
function withStringEnum(node: JsonSchema): JsonSchema {
  const { const: only, enum: choices = only === undefined ? undefined : [only], ...rest } = node;
  if (choices === undefined) return rest;
  if (choices.every((choice) => typeof choice === "string")) return { ...rest, enum: choices };
  return keepKnown({ ...rest, enum: choices }, new Set(Object.keys(rest)));
}
