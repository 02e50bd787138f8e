// Builds the environment of a command: decides which variables it inherits, drops and sets. This code is pure and does
// not access process.env. secrets.ts and injection.ts decide which variables are secret and which inject code.
import { NacreError } from "../support/errors.ts";
import { REDACT_VALUE_MIN_CHARS } from "../support/limits.ts";
import { subvertsPrograms, subvertsShell } from "./injection.ts";
import { matcherOf } from "./name-pattern.ts";
import { isSecret } from "./secrets.ts";
import { URL_PASSWORD } from "./token-shapes.ts";
import type { NamedValue } from "./value-search.ts";

/**
 * `safe`: everything except secrets and code injection. `all`: everything except variables that change bash itself:
 * they would break the scripts that run the command. `core`: the variables that every program expects, if they hold no
 * secret. `none`: only PATH, because without it the command would find different programs than the host. In every mode
 * the non-interactive defaults replace inherited values, and `set` is applied last.
 */
export type EnvironmentMode = "all" | "safe" | "core" | "none";

export interface EnvironmentOptions {
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** @default "safe" */
  readonly mode?: EnvironmentMode;
  /** Names or globs (`AWS_*`) that are inherited in every mode and override the defaults. */
  readonly include?: readonly string[];
  /** Names or globs that are neither inherited nor set by the defaults. Overrides `include`. */
  readonly exclude?: readonly string[];
  /** Overrides everything else. */
  readonly set?: Readonly<Record<string, string>>;
}

/**
 * `unusable`: bash cannot represent the name (such as `my.var`) or the value (which contains NUL). `mode`: the mode
 * excludes the variable.
 */
export type DropReason = "unusable" | "excluded" | "injection" | "secret" | "mode";

export interface DroppedVariable {
  readonly name: string;
  readonly reason: DropReason;
}

export interface BuiltEnvironment {
  readonly env: Record<string, string>;
  /** The variables that the command does not get, sorted by name. Show only their names, never their values. */
  readonly dropped: readonly DroppedVariable[];
  /**
   * The values of dropped secrets that are long enough to redact. This is a getter, so that JSON and util.inspect do
   * not print it.
   */
  readonly droppedValues: readonly NamedValue[];
}

/** Hides the secret values from JSON.stringify, util.inspect and copies: a host may log the environment. */
export function withHiddenValues(
  built: Pick<BuiltEnvironment, "env" | "dropped">,
  droppedValues: readonly NamedValue[],
): BuiltEnvironment {
  return Object.defineProperty({ ...built }, "droppedValues", {
    get: () => droppedValues,
  }) as BuiltEnvironment;
}

export function buildEnvironment(options: EnvironmentOptions): BuiltEnvironment {
  const { inherited, mode = "safe", set = {} } = options;
  const isIncluded = matcherOf(options.include);
  const isExcluded = matcherOf(options.exclude);
  for (const [name, value] of Object.entries(set)) assertSettable(name, value);

  const env: Record<string, string> = Object.create(null);
  const dropped: DroppedVariable[] = [];
  const droppedValues: NamedValue[] = [];
  for (const name of Object.keys(inherited).sort()) {
    const value = inherited[name];
    if (value === undefined) continue;
    const reason = reasonToDrop(name, value, { mode, isIncluded, isExcluded });
    if (reason === undefined) {
      env[name] = value;
      continue;
    }
    dropped.push({ name, reason });
    if (!subvertsShell(name) && !subvertsPrograms(name) && isSecret(name, value)) {
      droppedValues.push(...searchable(name, value));
    }
  }
  for (const [name, value] of defaultsFor(env)) {
    if (!isExcluded(name) && !(name in env && isIncluded(name))) env[name] = value;
  }
  Object.assign(env, set);
  // Do not report a dropped variable if a default or `set` provides another value.
  return withHiddenValues({ env, dropped: dropped.filter(({ name }) => !(name in env)) }, droppedValues);
}

interface Rules {
  readonly mode: EnvironmentMode;
  readonly isIncluded: (name: string) => boolean;
  readonly isExcluded: (name: string) => boolean;
}

function reasonToDrop(name: string, value: string, rules: Rules): DropReason | undefined {
  const { mode } = rules;
  if (!IDENTIFIER.test(name)) return subvertsShell(name) ? "injection" : "unusable";
  if (value.includes("\0")) return "unusable";
  if (rules.isExcluded(name)) return "excluded";
  if (rules.isIncluded(name)) return undefined;
  if (subvertsShell(name)) return "injection";
  if (mode === "all") return undefined;
  if (subvertsPrograms(name)) return "injection";
  if (isSecret(name, value)) return "secret";
  if (mode === "safe") return undefined;
  return (mode === "core" ? isCore(name) : name === "PATH") ? undefined : "mode";
}

function assertSettable(name: string, value: unknown): void {
  const problem = problemWith(name, value);
  if (problem !== undefined) throw new NacreError("invalid_input", problem);
}

function problemWith(name: string, value: unknown): string | undefined {
  const shown = JSON.stringify(name);
  if (!IDENTIFIER.test(name)) {
    return `Invalid environment variable name ${shown}: use letters, digits and _, not starting with a digit.`;
  }
  if (typeof value !== "string")
    return `Environment variable ${shown} must be a string, got ${typeof value}.`;
  const nul = value.indexOf("\0");
  if (nul === -1) return undefined;
  return `Environment variable ${shown} has a NUL character at offset ${nul}: no process can receive it.`;
}

// These defaults keep programs from waiting for a person: no pager, no editor, no password prompt.
function defaultsFor(env: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  const { LC_ALL, LC_CTYPE, LANG } = env;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return /utf-?8/i.test(locale) ? NON_INTERACTIVE : [...NON_INTERACTIVE, ["LANG", "C.UTF-8"]];
}

// Returns the value and, if the value is a connection URL, its password: a program can print the password alone.
function searchable(name: string, value: string): NamedValue[] {
  const password = new RegExp(URL_PASSWORD).exec(value)?.[2] ?? "";
  return [value.trim(), password]
    .filter((text) => text.length >= REDACT_VALUE_MIN_CHARS && !COMMON_WORDS.has(text.toLowerCase()))
    .map((text) => ({ name, value: text }));
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

const isCore = matcherOf([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "LC_*"],
]);

const NON_INTERACTIVE = [
  ["PAGER", "cat"],
  ["GIT_PAGER", "cat"],
  ["GIT_EDITOR", "true"],
  ["GIT_TERMINAL_PROMPT", "0"],
  ["TERM", "dumb"],
  ["DEBIAN_FRONTEND", "noninteractive"],
] as const;

// POSTGRES_PASSWORD=postgres is not a secret. Redacting such a word everywhere would hide ordinary output.
const COMMON_WORDS = new Set([
  ...["password", "postgres", "changeme", "localhost", "development", "production", "disabled", "required"],
]);
