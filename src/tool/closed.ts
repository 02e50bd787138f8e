// The schema a call is checked against: the tool's own, with every object in it closed, wherever it is nested.
// An unknown parameter is a mistake to report, not something to drop in silence as zod would.

import { z } from "zod";

/** Closed at the top whatever its author said; deeper, an object stays open where it was opened by name. */
export function closed<Input extends z.ZodObject>(input: Input): Input {
  return close(input.catchall(z.never())) as z.core.$ZodType as Input;
}

// Where zod keeps the schemas inside a schema.
const ONE = ["innerType", "element", "valueType", "in", "out", "left", "right"];
const SEVERAL = ["options"];

function close(schema: z.core.$ZodType): z.core.$ZodType {
  const def: object = schema._zod.def;
  const changes = Object.entries(def).flatMap(([key, part]: [string, unknown]): [string, unknown][] => {
    if (ONE.includes(key) && isSchema(part)) return [[key, close(part)]];
    if (SEVERAL.includes(key) && Array.isArray(part)) return [[key, part.filter(isSchema).map(close)]];
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
