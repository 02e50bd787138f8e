// OpenAI's function format, plain and strict. Strict mode forces the model to follow the schema, and allows only the
// keywords in STRICT_KEYWORDS. The model must then send every parameter: it sends null for an optional parameter, and
// `execute` treats null as absent.

import { NacreError } from "../../support/errors.ts";
import type { BaseTool } from "../tool.ts";
import { type JsonSchema, keepKnown, mapValues } from "./json-schema.ts";

export interface OpenAiTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
    readonly strict?: true;
  };
}

export function toOpenAi(tool: BaseTool): OpenAiTool {
  const { name, description } = tool;
  return { type: "function", function: { name, description, parameters: tool.toJsonSchema() } };
}

export function toOpenAiStrict(tool: BaseTool): OpenAiTool {
  const { name, description } = tool;
  const parameters = strict(tool.toJsonSchema(), name);
  return { type: "function", function: { name, description, parameters, strict: true } };
}

const STRICT_KEYWORDS = new Set([
  ...["type", "description", "enum", "const", "anyOf", "items", "properties", "required"],
  ...["additionalProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["pattern", "minItems", "maxItems"],
]);

function strict(node: JsonSchema, tool: string): JsonSchema {
  const { properties, items, anyOf } = node;
  if (node.type === "object" && node.additionalProperties !== false) {
    throw new NacreError(
      "invalid_input",
      `OpenAI's strict mode does not support open objects, and ${tool} takes one`,
    );
  }
  const required = new Set(node.required);
  return {
    ...keepKnown(node, STRICT_KEYWORDS),
    ...(items && { items: strict(items, tool) }),
    ...(anyOf && { anyOf: anyOf.map((option) => strict(option, tool)) }),
    ...(properties && {
      properties: mapValues(properties, (property, key) =>
        required.has(key) ? strict(property, tool) : nullable(strict(property, tool)),
      ),
      required: Object.keys(properties),
    }),
  };
}

function nullable(node: JsonSchema): JsonSchema {
  if (node.anyOf?.some(({ type }) => type === "null")) return node;
  if (node.anyOf) return { ...node, anyOf: [...node.anyOf, { type: "null" }] };
  if (typeof node.type !== "string" || "const" in node) {
    const { description, ...rest } = node;
    return { ...(description && { description }), anyOf: [rest, { type: "null" }] };
  }
  return { ...node, type: [node.type, "null"], ...(node.enum && { enum: [...node.enum, null] }) };
}
