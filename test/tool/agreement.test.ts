// The guarantee to models: `execute` accepts exactly the arguments that the published JSON Schema accepts. ajv validates
// the schema. The generator avoids the differences that tool-input.ts documents, except null for an optional parameter,
// which counts as absent.

import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../../src/tool/schemas/json-schema.ts";
import { toOpenAiStrict } from "../../src/tool/schemas/openai.ts";
import type { BaseTool } from "../../src/tool/tool.ts";
import { BareTool, CommandTool, context, EveryKindTool, toolTaking } from "./sample-tools.ts";

const nested = z.object({
  edits: z.array(z.object({ at: z.object({ line: z.int().min(0) }), text: z.string().max(3) })).max(2),
  options: z.looseObject({ depth: z.int().optional() }).default({}),
  score: z.number().nullable(),
  env: z.record(z.string(), z.string()).optional(),
  places: z.record(z.string(), z.object({ line: z.int() })).optional(),
  both: z.intersection(z.object({ line: z.int() }), z.object({ text: z.string() })).optional(),
  shape: z
    .discriminatedUnion("kind", [
      z.object({ kind: z.literal("dot") }),
      z.object({ kind: z.literal("line"), length: z.number() }),
    ])
    .optional(),
});

const TOOLS = [new EveryKindTool(), new CommandTool(), new BareTool(), toolTaking(nested, "Nested")];

// Characters inside and outside the basic plane. Outside, one code point has two UTF-16 units, so lengths differ.
const character = fc.constantFrom("a", "1", "é", "😀", "\ud800", " ");
const text = fc.string({ unit: character, maxLength: 10 });
const number = fc.oneof(
  fc.constantFrom(-1, 0, 1, 5, 7, 999, 1000, 600_000, 600_001, 0.5, 1.5, 5e-324, -0, 1e21),
  fc.constantFrom(Number.NaN, Infinity, -Infinity),
  fc.maxSafeInteger(),
  fc.double(),
);
const safe = number.filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n));
const known = fc.constantFrom(
  "default",
  "slow",
  "fast",
  "v1",
  "v2",
  "dot",
  "line",
  "abc",
  "ls",
  1,
  2,
  3,
  true,
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    known,
    text,
    safe,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom("line", "column", "at", "text", "kind", "length", "depth", "other", "constructor"),
      tie("value"),
      { maxKeys: 3 },
    ),
  ),
}));

/** Arguments of a tool: some are valid, and in others values are replaced, removed or added under an unknown name. */
function nearlyValid(tool: BaseTool): fc.Arbitrary<Record<string, unknown>> {
  const valid = validFor(tool.toJsonSchema()) as fc.Arbitrary<Record<string, unknown>>;
  const names = fc.constantFrom("stranger", ...tool.parameters.map(({ name }) => name));
  const changes = fc.dictionary(names, value, { maxKeys: 2 });
  return fc.oneof(
    valid,
    fc.tuple(valid, changes).map(([args, changed]) => ({ ...args, ...changed })),
    fc
      .tuple(valid, names)
      .map(([args, gone]) => ({ ...args, [gone]: undefined }))
      .map(withoutUndefined),
  );
}

function withoutUndefined(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, v]) => v !== undefined));
}

/** Values that are valid for the schema's keywords. */
function validFor(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, minimum = -1000, maximum = 1000, minLength = 0, maxLength = 8 } = schema;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(validFor));
  if (schema.pattern) return fc.constantFrom("abc", "x");
  if (schema.multipleOf) return fc.integer({ min: -5, max: 5 }).map((n) => n * (schema.multipleOf ?? 1));
  if (Array.isArray(type)) return fc.oneof(...type.map((name) => validFor({ ...schema, type: name })));
  switch (type) {
    case "string":
      return fc.string({ unit: character, minLength, maxLength });
    case "integer":
      return fc.integer({ min: minimum, max: Math.max(maximum, minimum + 10) });
    case "number":
      return fc.double({
        min: minimum,
        max: schema.exclusiveMaximum ?? maximum,
        maxExcluded: true,
        noNaN: true,
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(validFor(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 3,
      });
    default: {
      const entries = Object.entries(schema.properties ?? {}).map(([name, s]) => [name, validFor(s)]);
      const model = Object.fromEntries(entries) as Record<string, fc.Arbitrary<unknown>>;
      return fc.record(model, { requiredKeys: [...(schema.required ?? [])] });
    }
  }
}

describe.each(TOOLS.map((tool) => [tool.name, tool as BaseTool] as const))("%s", (_, tool) => {
  const accepts = new Ajv2020({ strict: false, strictNumbers: true, ownProperties: true }).compile(
    tool.toJsonSchema(),
  );

  it("accepts exactly what its JSON Schema accepts", async () => {
    const counts = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(nearlyValid(tool), async (args) => {
        const accepted = accepts(withoutNulls(tool, args));
        counts[accepted ? "accepted" : "refused"]++;
        const result = await tool.execute(context, args);
        expect(result.success, result.error).toBe(accepted);
        if (!accepted) expect(result.code).toBe("invalid_input");
      }),
      { numRuns: 500 },
    );
    // The property proves something only if some arguments were accepted and others were refused.
    expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(20);
  });

  it("never throws for any value", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.anything({ withBigInt: true, withNullPrototype: true, withMap: true }),
        async (args) => {
          const result = await tool.execute(context, args);
          if (!result.success) expect(result.code).toBe("invalid_input");
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("OpenAI's strict schema", () => {
  it.each([new EveryKindTool(), new CommandTool(), new BareTool()])(
    "of $name accepts only arguments that execute accepts",
    async (sample) => {
      const tool = sample as BaseTool;
      const schema = toOpenAiStrict(tool).function.parameters;
      const matchesStrict = new Ajv2020({ strict: false }).compile(schema);
      const matchesPlain = new Ajv2020({ strict: false }).compile(tool.toJsonSchema());
      await fc.assert(
        fc.asyncProperty(validFor(schema) as fc.Arbitrary<Record<string, unknown>>, async (args) => {
          expect(matchesStrict(args)).toBe(true);
          // The strict schema states string lengths only in the description, so skip values of a wrong length.
          fc.pre(matchesPlain(withoutNulls(tool, args)));
          const result = await tool.execute(context, args);
          expect(result.success, result.error).toBe(true);
        }),
        { numRuns: 100 },
      );
    },
  );
});

/** Removes nulls for optional parameters, as if the caller had omitted these parameters. */
function withoutNulls(tool: BaseTool, args: Record<string, unknown>): unknown {
  return dropNulls(args, tool.toJsonSchema());
}

function dropNulls(given: unknown, schema: JsonSchema | undefined): unknown {
  if (typeof given !== "object" || given === null) return given;
  if (Array.isArray(given)) return given.map((item) => dropNulls(item, schema?.items));
  const kept = Object.entries(given).flatMap(([key, v]): [string, unknown][] => {
    const property = Object.entries(schema?.properties ?? {}).find(([name]) => name === key)?.[1];
    const isOptional = property !== undefined && !schema?.required?.includes(key);
    const takesNull = property?.anyOf?.some(({ type }) => type === "null");
    return v === null && isOptional && !takesNull ? [] : [[key, dropNulls(v, property)]];
  });
  return Object.fromEntries(kept);
}
