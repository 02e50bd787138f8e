// The documented format of a tool at each provider, as JSON Schema. Each schema allows only the documented keys.

const closed = (properties: object, required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const name = { type: "string", pattern: "^[a-zA-Z0-9_-]{1,64}$" };

/** Matches schemas in which every object is closed. */
export const CLOSED = {
  $defs: {
    node: {
      type: "object",
      properties: {
        properties: { type: "object", additionalProperties: { $ref: "#/$defs/node" } },
        items: { $ref: "#/$defs/node" },
        anyOf: { type: "array", items: { $ref: "#/$defs/node" } },
        additionalProperties: { const: false },
      },
      dependentRequired: { properties: ["additionalProperties"] },
    },
  },
  $ref: "#/$defs/node",
};

/** The JSON Schema keywords that OpenAI's guide to structured outputs lists. */
const openAiStrictNode = {
  anyOf: [{ required: ["type"] }, { required: ["anyOf"] }],
  ...closed(
    {
      type: { anyOf: [text, { type: "array", items: text }] },
      description: text,
      enum: { type: "array" },
      const: {},
      anyOf: { type: "array", items: { $ref: "#/$defs/node" } },
      items: { $ref: "#/$defs/node" },
      properties: { type: "object", additionalProperties: { $ref: "#/$defs/node" } },
      required: { type: "array", items: text },
      additionalProperties: { const: false },
      pattern: text,
      multipleOf: { type: "number" },
      minimum: { type: "number" },
      maximum: { type: "number" },
      exclusiveMinimum: { type: "number" },
      exclusiveMaximum: { type: "number" },
      minItems: count,
      maxItems: count,
    },
    [],
  ),
  dependentRequired: { properties: ["required", "additionalProperties"] },
};

/** Gemini's Schema, a subset of OpenAPI 3.0: 64-bit counts are strings, and enums contain only strings. */
const int64 = { type: "string", pattern: "^[0-9]+$" };
const geminiNode = closed(
  {
    type: { enum: ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"] },
    format: { enum: ["enum", "date-time", "float", "double", "int32", "int64"] },
    title: text,
    description: text,
    nullable: { type: "boolean" },
    enum: { type: "array", items: text },
    properties: { type: "object", minProperties: 1, additionalProperties: { $ref: "#/$defs/node" } },
    required: { type: "array", items: text },
    propertyOrdering: { type: "array", items: text },
    items: { $ref: "#/$defs/node" },
    anyOf: { type: "array", items: { $ref: "#/$defs/node" } },
    minimum: { type: "number" },
    maximum: { type: "number" },
    pattern: text,
    minLength: int64,
    maxLength: int64,
    minItems: int64,
    maxItems: int64,
  },
  [],
);

const objectSchema = { type: "object", properties: { type: { const: "object" } }, required: ["type"] };

export const SHAPES = {
  openai: closed(
    {
      type: { const: "function" },
      function: closed({ name, description: text, parameters: objectSchema }, ["name", "parameters"]),
    },
    ["type", "function"],
  ),
  "openai-strict": {
    $defs: { node: openAiStrictNode },
    ...closed(
      {
        type: { const: "function" },
        function: closed(
          { name, description: text, parameters: { $ref: "#/$defs/node" }, strict: { const: true } },
          ["name", "parameters", "strict"],
        ),
      },
      ["type", "function"],
    ),
  },
  anthropic: closed({ name, description: text, input_schema: objectSchema }, ["name", "input_schema"]),
  gemini: {
    $defs: { node: geminiNode },
    ...closed({ name, description: text, parameters: { $ref: "#/$defs/node" } }, ["name", "description"]),
  },
  mcp: closed(
    {
      name,
      title: text,
      description: text,
      inputSchema: objectSchema,
      annotations: closed(
        {
          title: text,
          readOnlyHint: { type: "boolean" },
          destructiveHint: { type: "boolean" },
          idempotentHint: { type: "boolean" },
          openWorldHint: { type: "boolean" },
        },
        [],
      ),
    },
    ["name", "inputSchema"],
  ),
};
