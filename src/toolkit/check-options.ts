// Refuses options that nobody can mean, before anything is started: one error that names the option and the fix.
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { NacreError } from "../support/errors.ts";
import { nearest } from "../support/nearest.ts";
import type { ToolkitOptions } from "./options.ts";

/** What a value should be, in words, or undefined where it is that. */
type Check = (value: unknown) => string | undefined;

/** Every option there is: a name that is not here is a mistake. */
const CHECKS: Readonly<Record<keyof ToolkitOptions, Check>> = {
  workingDir: directory,
  dialect: oneOf("shells", "modes"),
  approve: callback,
  scope: text,
  sessionId: text,
  hooks: list,
  auditFile: text,
  defaultTimeoutMs: count(1),
  maxTimeoutMs: count(1),
  maxOutputChars: count(1),
  onTimeout: oneOf("kill", "background"),
  durable: flag,
  profile: text,
  rawOutput: flag,
  redact: flag,
  policy: oneOf("off", "trusting", "standard", "cautious"),
  policyFile: text,
  rules: list,
  door: oneOf("library", "cli", "mcp"),
  judge: callback,
  stateRoot: text,
  environment: object,
  shellPath: absolutePath,
  allowedRoots: list,
  capBytes: count(1),
  maxLiveShells: count(1),
  maxSessions: count(1),
  killGraceMs: count(0),
  quotaBytes: count(0),
  finishedMaxAgeSeconds: count(0),
  containment: oneOf("auto", "best-effort"),
  poolSize: count(0),
  sandbox: oneOf("off", "read-only", "workspace-write"),
  network: oneOf("none", "full"),
  workspace: absolutePath,
  writable: list,
  hide: list,
  gitConfig: flag,
  debuggers: flag,
  allowUnsandboxed: flag,
  maxProcesses: count(1),
  maxMemoryBytes: count(1),
  cpuSeconds: count(1),
  maxFileBytes: count(0),
};

export function checkToolkitOptions(options: ToolkitOptions): void {
  if (typeof options !== "object" || options === null)
    throw refused('createToolkit needs an object of options, for example { workingDir: "/srv/project" }.');
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof ToolkitOptions] : undefined;
    if (!check) throw unknownOption(name);
    const wanted = value === undefined ? undefined : check(value);
    if (wanted !== undefined) throw refused(`The option ${name} must be ${wanted}; it is ${shown(value)}.`);
  }
  if (options.workingDir === undefined)
    throw refused("The option workingDir is missing: an absolute path of the directory commands run in.");
  const { defaultTimeoutMs, maxTimeoutMs } = options;
  if (defaultTimeoutMs !== undefined && maxTimeoutMs !== undefined && defaultTimeoutMs > maxTimeoutMs) {
    throw refused(
      `The option defaultTimeoutMs (${defaultTimeoutMs}) is longer than maxTimeoutMs (${maxTimeoutMs}): raise the one or lower the other.`,
    );
  }
}

function unknownOption(name: string): NacreError {
  const near = nearest(name, Object.keys(CHECKS));
  const hint = near === undefined ? `There are: ${Object.keys(CHECKS).join(", ")}.` : `Did you mean ${near}?`;
  return refused(`createToolkit has no option ${name}. ${hint}`);
}

function refused(words: string): NacreError {
  return new NacreError("invalid_input", words);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && !value.includes("\0") ? undefined : "a text";
}

function flag(value: unknown): string | undefined {
  return typeof value === "boolean" ? undefined : "true or false";
}

function callback(value: unknown): string | undefined {
  return typeof value === "function" ? undefined : "a function";
}

function list(value: unknown): string | undefined {
  return Array.isArray(value) ? undefined : "an array";
}

function object(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "an object";
}

function absolutePath(value: unknown): string | undefined {
  return typeof value === "string" && isAbsolute(value) ? undefined : "an absolute path";
}

function directory(value: unknown): string | undefined {
  if (typeof value !== "string" || !isAbsolute(value)) return "an absolute path of a directory";
  return statSync(value, { throwIfNoEntry: false })?.isDirectory() === false ? "a directory" : undefined;
}

function count(least: number): Check {
  return (value) =>
    typeof value === "number" && Number.isFinite(value) && value >= least
      ? undefined
      : `a number of at least ${least}`;
}

function oneOf(...words: readonly string[]): Check {
  return (value) =>
    typeof value === "string" && words.includes(value)
      ? undefined
      : `one of ${words.map((word) => `"${word}"`).join(", ")}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  return typeof value === "object" && value !== null
    ? Array.isArray(value)
      ? "an array"
      : "an object"
    : String(value);
}
