// Checks options before anything starts. The error names the option and its valid values. For an unknown name, it
// suggests the nearest known name.

import { NacreError } from "../support/errors.ts";
import { EXCERPT_MAX_CHARS, MAX_TIMEOUT_MS } from "../support/limits.ts";
import { nearest } from "../support/nearest.ts";
import { type CheckedMethod, installOptionChecks } from "../support/option-checks.ts";
import { shownPath } from "../support/path-text.ts";
import { isWithinRoots } from "../support/start-checks.ts";
import { optionNames, schemaOf } from "./option-schemas.ts";
import type { ToolkitOptions } from "./toolkit-options.ts";

installOptionChecks(checkMethod);

function checkMethod(method: CheckedMethod, options: unknown): void {
  const problem = problemWith(method, options);
  if (problem) throw problem;
}

/** The error for the first unknown name, otherwise for the first wrong value. */
export function problemWith(method: CheckedMethod, options: unknown): NacreError | undefined {
  const issues = schemaOf(method).safeParse(options).error?.issues ?? [];
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) return undefined;
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") return unknownOption(method, path, issue.keys[0] ?? "");
  if (path.length === 0)
    return refused(`${method} needs an object of options; it got ${shownValue(options)}.`);
  const value = path.reduce((at: unknown, key) => (at as Record<string, unknown>)[key], options);
  return refused(`The option ${path.join(".")} must be ${issue.message}; it is ${shownValue(value)}.`);
}

/**
 * `workingDir`: the directory in the options, or the default. `isRemote`: whether this directory is on another machine.
 */
export function checkToolkitOptions(options: ToolkitOptions, workingDir: string, isRemote = false): void {
  checkMethod("createToolkit", options);
  const { defaultTimeoutMs, maxTimeoutMs = MAX_TIMEOUT_MS, allowedRoots } = options;
  if (defaultTimeoutMs !== undefined && defaultTimeoutMs > maxTimeoutMs) {
    throw refused(
      `The option defaultTimeoutMs (${defaultTimeoutMs}) is longer than maxTimeoutMs (${maxTimeoutMs}): raise maxTimeoutMs or lower defaultTimeoutMs.`,
    );
  }
  if (!isRemote && allowedRoots && !isWithinRoots(workingDir, allowedRoots)) {
    throw refused(
      `The option workingDir (${shownPath(workingDir)}) is not inside allowedRoots (${allowedRoots.map(shownPath).join(", ")}): no command could start. Add it to allowedRoots, or use a directory inside them.`,
    );
  }
}

export function checkText(what: string, value: unknown): void {
  if (typeof value === "string" && value.trim() !== "" && !value.includes("\0")) return;
  throw refused(`${what} must be a string that is not blank; it is ${shownValue(value)}.`);
}

/** Refuses a name that is not in the list, and suggests the nearest one. */
export function checkName(what: string, name: unknown, known: readonly string[]): void {
  if (typeof name === "string" && known.includes(name)) return;
  const near = typeof name === "string" ? nearest(name, known) : undefined;
  throw refused(`There is no ${what} ${shownValue(name)}. ${hint(near, known)}`);
}

function unknownOption(method: CheckedMethod, path: readonly string[], name: string): NacreError {
  const known = optionNames(method, path).map((one) => [...path, one].join("."));
  const given = [...path, name].join(".");
  const same = SYNONYMS.find((names) => names.includes(name))?.find((one) => known.includes(one));
  return refused(`${method} has no option ${given}. ${hint(same ?? nearest(given, known), known)}`);
}

/** Names of the same thing in other methods and in Node. */
const SYNONYMS = [
  ["cwd", "workingDir", "workdir", "directory", "dir"],
  ["input", "stdin"],
];

function hint(near: string | undefined, known: readonly string[]): string {
  return near === undefined ? `Choose from: ${known.join(", ")}.` : `Did you mean ${near}?`;
}

/** A short form of a value for a message. */
function shownValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, EXCERPT_MAX_CHARS));
  if (Array.isArray(value)) return `[${value.map(shownValue).join(", ")}]`.slice(0, EXCERPT_MAX_CHARS);
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

function refused(message: string): NacreError {
  return new NacreError("invalid_input", message);
}
