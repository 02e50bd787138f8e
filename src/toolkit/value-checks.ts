// What the value of an option must be, in words for the developer who gave another one.
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fsPath, isPathText } from "../support/path-text.ts";

/** What a value should be, in words, or undefined where it is that. */
export type Check = (value: unknown) => string | undefined;

export const text: Check = (value) =>
  typeof value === "string" && value !== "" && !value.includes("\0") ? undefined : "a text";

export const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");

export const callback: Check = (value) => (typeof value === "function" ? undefined : "a function");

export const object: Check = (value) => (isObject(value) ? undefined : "an object");

export const absolutePath: Check = (value) =>
  text(value) === undefined && isAbsolute(value as string) ? undefined : "an absolute path";

export const directory: Check = (value) => {
  if (absolutePath(value) !== undefined) return "an absolute path of a directory";
  return isDirectory(value as string) ? undefined : "a directory that exists";
};

/** A function each, or left out. */
export const hook: Check = (value) => {
  const isHook = isObject(value) && ["before", "after"].every((part) => maybe(value[part]));
  return isHook ? undefined : "an object with before, after or both, which are functions";
};

export const variables: Check = (value) =>
  isObject(value) && Object.values(value).every((one) => typeof one === "string")
    ? undefined
    : "an object whose values are texts";

export function listOf(check: Check, words: string): Check {
  return (value) =>
    Array.isArray(value) && value.every((element) => check(element) === undefined)
      ? undefined
      : `an array of ${words}`;
}

export function count(least: number): Check {
  return (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least
      ? undefined
      : `a whole number of at least ${least}`;
}

export function oneOf(...words: readonly string[]): Check {
  return (value) =>
    typeof value === "string" && words.includes(value)
      ? undefined
      : `one of ${words.map((word) => `"${word}"`).join(", ")}`;
}

/** A value in an error, short. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`.slice(0, 80);
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

function maybe(value: unknown): boolean {
  return value === undefined || callback(value) === undefined;
}
