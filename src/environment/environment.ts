// The environment a command gets: inherit, drop, set. Pure: it reads no process.env and changes none.
// What is secret and what subverts is decided next door (secrets.ts, injection.ts).
import { NacreError } from "../support/errors.ts";
import { REDACT_VALUE_MIN_CHARS } from "../support/limits.ts";
import { subvertsPrograms, subvertsShell } from "./injection.ts";
import { matcherOf } from "./name-pattern.ts";
import { isSecret } from "./secrets.ts";
import { URL_PASSWORD } from "./token-shapes.ts";
import type { NamedValue } from "./value-search.ts";

/**
 * `safe`: everything but secrets and code injection. `all`: also those, except what changes bash itself,
 * which would break the program around the command. `core`: the names every program expects, if they hold
 * no secret. `none`: only PATH, because without it other programs run than the host would find.
 * In every mode our non-interactive defaults replace what was inherited, and `set` comes last.
 */
export type EnvironmentMode = "all" | "safe" | "core" | "none";

export interface EnvironmentOptions {
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** @default "safe" */
  readonly mode?: EnvironmentMode;
  /** Names or globs (`AWS_*`) that are inherited whatever the mode says, and win over our defaults. */
  readonly include?: readonly string[];
  /** Names or globs that are never inherited, nor set by our defaults. Wins over `include`. */
  readonly exclude?: readonly string[];
  /** Wins over everything. */
  readonly set?: Readonly<Record<string, string>>;
}

/** `unusable`: no shell can name it (`my.var`) or carry its value (NUL). `mode`: not among the names of that mode. */
export type DropReason = "unusable" | "excluded" | "injection" | "secret" | "mode";

export interface DroppedVariable {
  readonly name: string;
  readonly reason: DropReason;
}

export interface BuiltEnvironment {
  readonly env: Record<string, string>;
  /** What the command will miss, in the order of the names. Names may be shown, values never. */
  readonly dropped: readonly DroppedVariable[];
  /** The secrets among them that are long enough to be searched for in output. */
  readonly droppedValues: readonly NamedValue[];
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
  // What was replaced is there after all: naming it would send a reader looking for a loss.
  return { env, dropped: dropped.filter(({ name }) => !(name in env)), droppedValues };
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
  const shown = JSON.stringify(name);
  if (!IDENTIFIER.test(name)) {
    throw new NacreError(
      "invalid_input",
      `Invalid environment variable name ${shown}: use letters, digits and _, not starting with a digit.`,
    );
  }
  if (typeof value !== "string") {
    throw new NacreError(
      "invalid_input",
      `Environment variable ${shown} must be a string, got ${typeof value}.`,
    );
  }
  const nul = value.indexOf("\0");
  if (nul !== -1) {
    throw new NacreError(
      "invalid_input",
      `Environment variable ${shown} has a NUL character at offset ${nul}: no process can receive that.`,
    );
  }
}

// Nothing may wait for a person: no pager, no editor, no password prompt.
function defaultsFor(env: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  const { LC_ALL, LC_CTYPE, LANG } = env;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return /utf-?8/i.test(locale) ? NON_INTERACTIVE : [...NON_INTERACTIVE, ["LANG", "C.UTF-8"]];
}

// A program may print only the password out of a connection URL.
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

// POSTGRES_PASSWORD=postgres is no secret, and hiding the word everywhere would hide the output.
const COMMON_WORDS = new Set([
  ...["password", "postgres", "changeme", "localhost", "development", "production", "disabled", "required"],
]);
