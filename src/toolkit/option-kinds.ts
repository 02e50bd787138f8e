// The kinds of option values, as zod schemas. The message of each says what the value must be.
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { z } from "zod";
import { fsPath, isPathText } from "../support/path-text.ts";
import { isRegExp } from "../support/realms.ts";

export const text = kind("a string", isText);

export const flag = z.boolean({ error: "true or false" });

export const callback = kind("a function", (value) => typeof value === "function");

export const object = kind("an object", isObject);

export const absolutePath = kind("an absolute path", isAbsolutePath);

export const directory = kind("an absolute path of a directory", isAbsolutePath).refine(
  (path) => isDirectory(path as string),
  { error: "a directory that exists" },
);

/** An AbortSignal from any realm. */
export const abortSignal = kind(
  "an AbortSignal",
  (value) =>
    isObject(value) && typeof value["aborted"] === "boolean" && isFunction(value["addEventListener"]),
);

export const readable = kind("a readable stream", (value) => isObject(value) && isFunction(value["pipe"]));

/** Every option is optional here, except those in `required`. Some methods check their required options themselves. */
export function closed(
  shape: Readonly<Record<string, z.ZodType>>,
  required: readonly string[] = [],
): z.ZodType {
  const members = Object.entries(shape).map(
    ([name, value]) => [name, required.includes(name) ? value : value.optional()] as const,
  );
  return z.strictObject(Object.fromEntries(members), { error: "an object" });
}

/** The named options of a shape. */
export function pick<Shape extends object>(
  shape: Shape,
  ...names: readonly (keyof Shape)[]
): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => names.includes(name as keyof Shape)));
}

/** The input of a command. */
export const input = kind(
  "a string, a Uint8Array or a readable stream",
  (value) =>
    typeof value === "string" || ArrayBuffer.isView(value) || (isObject(value) && isFunction(value["pipe"])),
);

/** A line to wait for. */
export const linePattern = kind(
  "a string of one line, a RegExp, or an object with a function matches",
  (value) =>
    (typeof value === "string" && /^.+$/.test(value)) ||
    isRegExp(value) ||
    (isObject(value) && isFunction(value["matches"])),
);

const hook = kind(
  "",
  (value) => isObject(value) && ["before", "after"].every((part) => isOptionalFunction(value[part])),
);

export const hooks = listOf(hook, "objects with before, after or both, which are functions");

export const variables = kind("an object whose values are strings", isObject).superRefine(
  (value, context) => {
    for (const [name, one] of Object.entries(value as object)) {
      if (typeof one !== "string") context.addIssue({ code: "custom", path: [name], message: "a string" });
    }
  },
);

/** Milliseconds; Infinity for no timeout. */
export const timeout = kind(
  "milliseconds above 0, or Infinity for none",
  (value) => typeof value === "number" && value > 0,
);

export function listOf(element: z.ZodType, elements: string): z.ZodType {
  return kind(
    `an array of ${elements}`,
    (value) => Array.isArray(value) && value.every((one) => element.safeParse(one).success),
  );
}

export function count(least: number): z.ZodType {
  const error = `a whole number of at least ${least}`;
  return z.int({ error }).min(least, { error });
}

export function oneOf(...choices: readonly string[]): z.ZodType {
  return z.enum(choices, { error: `one of ${choices.map((choice) => `"${choice}"`).join(", ")}` });
}

export function kind(wanted: string, test: (value: unknown) => boolean): z.ZodType {
  return z.custom(test, { error: wanted, abort: true });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

function isAbsolutePath(value: unknown): boolean {
  return isText(value) && isAbsolute(value);
}

function isDirectory(path: string): boolean {
  try {
    return isPathText(path) && statSync(fsPath(path)).isDirectory();
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || isFunction(value);
}
