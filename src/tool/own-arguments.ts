// Copies untrusted arguments before zod sees them: own properties only, because zod would also take inherited
// ones, and null for an optional parameter is the same as leaving it out, because models in OpenAI's strict
// mode must send every parameter and send null for "not given".

import { z } from "zod";

export function ownArguments(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isRecord(value)) return ownProperties(inner, value);
  if (inner instanceof z.ZodArray && Array.isArray(value) && holdsObjects(inner)) {
    return value.map((item) => ownArguments(inner.element, item));
  }
  return value;
}

function ownProperties(object: z.ZodObject, value: object): object {
  // Without a prototype, so that `__proto__` is a name like any other.
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

/** The schema under optional, default, nullable and the like. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const def = schema._zod.def as { readonly innerType?: z.core.$ZodType };
  return def.innerType === undefined ? schema : unwrap(def.innerType);
}

// Long arrays of plain values need no copy.
function holdsObjects(array: z.ZodArray): boolean {
  const element = unwrap(array.element);
  return element instanceof z.ZodObject || element instanceof z.ZodArray;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
