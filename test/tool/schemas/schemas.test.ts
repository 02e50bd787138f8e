// Compares each format with the shape that its provider documents. ajv checks the shape as JSON Schema.

import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolRegistry } from "../../../src/tool/registry.ts";
import { toGemini } from "../../../src/tool/schemas/gemini.ts";
import { toOpenAi, toOpenAiStrict } from "../../../src/tool/schemas/openai.ts";
import { BareTool, CommandTool, EveryKindTool, toolTaking } from "../sample-tools.ts";
import * as shapes from "./published-shapes.ts";

const registry = new ToolRegistry();
registry.registerMany([new EveryKindTool(), new CommandTool(), new BareTool()]);

const ajv = new Ajv2020({ allErrors: true });

function expectShape(shape: object, value: unknown): void {
  const fits = ajv.compile(shape);
  expect(fits(value), JSON.stringify(fits.errors)).toBe(true);
}

describe("every format", () => {
  it.each(["openai", "openai-strict", "anthropic", "gemini", "mcp"] as const)(
    "%s has the shape that its provider documents",
    (format) => {
      for (const schema of registry.getAllSchemas(format)) expectShape(shapes.SHAPES[format], schema);
      expect(registry.getAllSchemas(format)).toHaveLength(3);
    },
  );

  it.each(["openai", "openai-strict", "anthropic", "gemini", "mcp"] as const)(
    "%s has no references and only the bounds that the tool states",
    (format) => {
      const text = JSON.stringify(registry.getAllSchemas(format));
      expect(text).not.toMatch(/\$ref|\$defs|\$schema|9007199254740991/);
    },
  );

  it("returns copies", () => {
    const [first] = registry.getAllSchemas("anthropic");
    Object.assign(first?.input_schema ?? {}, { type: "string" });
    expect(registry.getAllSchemas("anthropic")[0]?.input_schema.type).toBe("object");
  });
});

describe("as JSON Schema", () => {
  const strictAjv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const schemas = [
    ...registry.getAllSchemas("openai").map((tool) => tool.function.parameters),
    ...registry.getAllSchemas("openai-strict").map((tool) => tool.function.parameters),
    ...registry.getAllSchemas("anthropic").map((tool) => tool.input_schema),
    ...registry.getAllSchemas("mcp").map((tool) => tool.inputSchema),
  ];

  it("every schema is valid, and every object in it allows no additional properties", () => {
    for (const schema of schemas) {
      expect(() => strictAjv.compile(schema)).not.toThrow();
      expectShape(shapes.CLOSED, schema);
    }
  });

  it("unions of types and tagged unions become anyOf", () => {
    const tagged = z.discriminatedUnion("t", [
      z.object({ t: z.literal("a") }),
      z.object({ t: z.literal("b") }),
    ]);
    const both = z.intersection(z.object({ a: z.int() }), z.object({ b: z.int() }));
    const tool = toolTaking(z.object({ tagged, both, any: z.union([z.string(), z.int()]).nullable() }));
    const { properties } = tool.toJsonSchema();
    expect(properties).toHaveProperty("tagged.anyOf");
    expect(properties).not.toHaveProperty("tagged.oneOf");
    expect(properties).toMatchObject({ both: { additionalProperties: false, required: ["a", "b"] } });
    expect(JSON.stringify(properties)).not.toContain("9007199254740991");
  });

  it("additional properties are allowed only where the tool's author allows them", () => {
    const tool = toolTaking(
      z.looseObject({ open: z.looseObject({ a: z.int() }), map: z.record(z.string(), z.int()) }),
    );
    expect(tool.toJsonSchema()).toMatchObject({
      additionalProperties: false,
      properties: {
        open: { additionalProperties: {} },
        map: { additionalProperties: { type: "integer" } },
      },
    });
  });
});

describe("openai", () => {
  it("is the plain function format", () => {
    expect(toOpenAi(new CommandTool())).toEqual({
      type: "function",
      function: {
        name: "Command",
        description: "Runs a command.",
        parameters: {
          type: "object",
          properties: {
            command: { type: "string", description: "The command", minLength: 1 },
            timeout: {
              type: "integer",
              description: "Milliseconds",
              minimum: 1000,
              maximum: 600_000,
              default: 120_000,
            },
            run_in_background: { type: "boolean", default: false },
          },
          required: ["command"],
          additionalProperties: false,
        },
      },
    });
  });

  it("strict requires every parameter and lets optional ones be null", () => {
    expect(toOpenAiStrict(new CommandTool()).function).toMatchObject({
      strict: true,
      parameters: {
        required: ["command", "timeout", "run_in_background"],
        properties: {
          command: { type: "string", description: "The command (at least 1 character)" },
          timeout: {
            type: ["integer", "null"],
            description: "Milliseconds (default 120000)",
            minimum: 1000,
            maximum: 600_000,
          },
          run_in_background: { type: ["boolean", "null"], description: "(default false)" },
        },
      },
    });
  });

  it("strict lets choices, unions and nested parameters be null", () => {
    const { properties } = toOpenAiStrict(new EveryKindTool()).function.parameters;
    expect(properties).toMatchObject({
      mode: { enum: ["default", "slow", "background", null] },
      maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
      either: { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
      version: { anyOf: [{ type: "string", const: "v1" }, { type: "null" }] },
      where: {
        type: ["object", "null"],
        required: ["line", "column"],
        properties: { line: { type: "integer" }, column: { type: ["integer", "null"] } },
      },
    });
  });

  it("strict refuses a tool that takes an open object, and names the tool", () => {
    const open = toolTaking(z.object({ env: z.record(z.string(), z.string()) }), "Open");
    expect(() => toOpenAiStrict(open)).toThrow(
      "OpenAI's strict mode does not support open objects, and Open takes one",
    );
  });
});

describe("gemini", () => {
  it("states in the description what its schema cannot express", () => {
    const { parameters } = toGemini(new EveryKindTool());
    expect(parameters?.properties).toMatchObject({
      text: { type: "STRING", description: "Some text", minLength: "2", maxLength: "8" },
      positive: { type: "INTEGER", minimum: 1 },
      ratio: { type: "NUMBER", minimum: 0, description: "(less than 1)" },
      step: { description: "(a multiple of 5)" },
      flag: { type: "BOOLEAN", description: "A switch (default false)" },
      mode: { type: "STRING", format: "enum", enum: ["default", "slow", "background"] },
      tags: { type: "ARRAY", items: { type: "STRING", minLength: "1" }, minItems: "1", maxItems: "3" },
      maybe: { type: "STRING", nullable: true, description: "May be null" },
      either: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] },
      version: { type: "STRING", format: "enum", enum: ["v1"] },
      level: { type: "NUMBER", description: "(one of 1, 2, 3)" },
      where: { type: "OBJECT", required: ["line"], propertyOrdering: ["line", "column"] },
    });
  });

  it("states exclusive bounds and formats in the description", () => {
    const tool = toolTaking(z.object({ above: z.number().gt(0).describe("A size"), at: z.iso.date() }));
    expect(toGemini(tool).parameters?.properties).toMatchObject({
      above: { type: "NUMBER", description: "A size (greater than 0)" },
      at: { type: "STRING", description: "(format date)" },
    });
  });

  it("keeps a nullable union nullable", () => {
    const tool = toolTaking(z.object({ x: z.union([z.string(), z.number()]).nullable() }));
    expect(toGemini(tool).parameters?.properties).toEqual({
      x: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }], nullable: true },
    });
  });

  it("leaves out the key parameters for a tool without parameters", () => {
    expect(toGemini(new BareTool())).toEqual({ name: "Bare", description: "Takes nothing." });
  });
});

describe("mcp", () => {
  it("contains the title and annotations of a tool that has them", () => {
    const [every, command] = registry.getAllSchemas("mcp");
    expect(every).toMatchObject({ title: "Every kind of parameter", annotations: { readOnlyHint: true } });
    expect(command).not.toHaveProperty("title");
    expect(command).not.toHaveProperty("annotations");
  });
});
