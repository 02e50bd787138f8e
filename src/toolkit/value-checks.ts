// Checks of option values. A failed check returns what the value must be, for the error message.
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { EXCERPT_MAX_CHARS } from "../support/limits.ts";
import { fsPath, isPathText } from "../support/path-text.ts";

/** What the value must be, or undefined if it is valid. */
export type ValueCheck = (value: unknown) => string | undefined;

export const text: ValueCheck = (value) =>
  typeof value === "string" && value !== "" && !value.includes("\0") ? undefined : "a string";

export const flag: ValueCheck = (value) => (typeof value === "boolean" ? undefined : "true or false");

export const callback: ValueCheck = (value) => (typeof value === "function" ? undefined : "a function");

export const object: ValueCheck = (value) => (isObject(value) ? undefined : "an object");

export const absolutePath: ValueCheck = (value) =>
  text(value) === undefined && isAbsolute(value as string) ? undefined : "an absolute path";

export const directory: ValueCheck = (value) => {
  if (absolutePath(value) !== undefined) return "an absolute path of a directory";
  return isDirectory(value as string) ? undefined : "a directory that exists";
};

export const hook: ValueCheck = (value) => {
  const isHook = isObject(value) && ["before", "after"].every((part) => isOptionalFunction(value[part]));
  return isHook ? undefined : "an object with before, after or both, which are functions";
};

export const variables: ValueCheck = (value) =>
  isObject(value) && Object.values(value).every((one) => typeof one === "string")
    ? undefined
    : "an object whose values are strings";

export function listOf(check: ValueCheck, elements: string): ValueCheck {
  return (value) =>
    Array.isArray(value) && value.every((element) => check(element) === undefined)
      ? undefined
      : `an array of ${elements}`;
}

export function count(least: number): ValueCheck {
  return (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least
      ? undefined
      : `a whole number of at least ${least}`;
}

export function oneOf(...choices: readonly string[]): ValueCheck {
  return (value) =>
    typeof value === "string" && choices.includes(value)
      ? undefined
      : `one of ${choices.map((choice) => `"${choice}"`).join(", ")}`;
}

/** A short form of a value for a message. */
export function shownValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, EXCERPT_MAX_CHARS));
  if (Array.isArray(value)) return `[${value.map(shownValue).join(", ")}]`.slice(0, EXCERPT_MAX_CHARS);
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
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

function isOptionalFunction(value: unknown): boolean {
  return value === undefined || callback(value) === undefined;
}
