// A tool's parameters as a flat list, for people and for hosts that draw forms. Derived from the tool's JSON
// Schema, never written by hand.

import type { JsonSchema, JsonType } from "./schemas/json-schema.ts";

export type ParameterType = JsonType | "any";

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

  /** This parameter alone, as JSON Schema; a copy, free to change. */
  toJsonSchema(): JsonSchema {
    return structuredClone(this.#schema);
  }
}

export function parametersOf(schema: JsonSchema): readonly ToolParameter[] {
  const required = new Set(schema.required);
  const parameters = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => new ToolParameter(name, property, required.has(name)),
  );
  return Object.freeze(parameters);
}

/** A nullable parameter has the type of what it holds when it is not null. */
function typeOf(schema: JsonSchema): ParameterType {
  const types = [schema, ...(schema.anyOf ?? [])].flatMap(({ type }) => type ?? []);
  return types.find((type) => type !== "null") ?? "any";
}
