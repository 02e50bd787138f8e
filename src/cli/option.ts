// Options that several commands share, and parsers for option values.
import { constants } from "node:os";
import { resolve } from "node:path";
import { Argument, InvalidArgumentError, Option } from "commander";
import { type HttpAddress, readHttpAddress } from "../mcp/http-address.ts";
import { messageOf } from "../support/errors.ts";
import {
  DEFAULT_TIMEOUT_MS,
  MODE_BACKGROUND_TIMEOUT_MS,
  MODE_DEFAULT_TIMEOUT_MS,
  MODE_SLOW_TIMEOUT_MS,
  TIMER_MAX_MS,
} from "../support/limits.ts";
import { fixedTime } from "./amounts.ts";

export const POLICIES = ["off", "trusting", "standard", "cautious"] as const;
export const DIALECTS = ["shells", "modes"] as const;
export const FORMATS = ["mcp", "openai", "openai-strict", "anthropic", "gemini"] as const;
export const ENV_MODES = ["safe", "all", "core", "none"] as const;
export const MODES = ["default", "slow", "background"] as const;
export const ON_TIMEOUT = ["background", "kill"] as const;

export const PS_FILTER_KEYS = ["status", "name", "session", "scope", "command", "cwd"] as const;

export interface PsFilter {
  readonly key: (typeof PS_FILTER_KEYS)[number];
  readonly value: string;
}

export type Policy = (typeof POLICIES)[number];
export type DialectName = (typeof DIALECTS)[number];
export type Format = (typeof FORMATS)[number];
export type EnvMode = (typeof ENV_MODES)[number];
export type Mode = (typeof MODES)[number];
export type OnTimeout = (typeof ON_TIMEOUT)[number];

export const MODE_TIMEOUTS_MS: Readonly<Record<Mode, number>> = {
  default: MODE_DEFAULT_TIMEOUT_MS,
  slow: MODE_SLOW_TIMEOUT_MS,
  background: MODE_BACKGROUND_TIMEOUT_MS,
};

/** The help text with examples of a command. */
export function examples(...lines: readonly string[]): string {
  return ["", "Examples:", ...lines.map((line) => `  nacre ${line}`)].join("\n");
}

export function createArgument(name: string, description: string, choices: readonly string[]): Argument {
  return new Argument(name, description).choices(choices);
}

export function policyOption(): Option {
  return new Option("--policy <profile>", "how strict the policy is").choices(POLICIES).default("standard");
}

export function policyFileOption(here: string): Option {
  return new Option(
    "--policy-file <file>",
    "your own rules (default: nacre/policy.json in the XDG configuration directory)",
  ).argParser((text) => resolve(here, text));
}

export function dialectOption(): Option {
  return new Option("--dialect <name>", "which tools: Bash, BashOutput and KillShell, or the one tool bash")
    .choices(DIALECTS)
    .default("shells");
}

export function formatOption(): Option {
  return new Option("--format <name>", "the provider's format").choices(FORMATS).default("mcp");
}

export function envModeOption(): Option {
  return new Option(
    "--env-mode <mode>",
    "which variables it inherits: all except secrets and code injection, all, the usual ones, or only PATH",
  )
    .choices(ENV_MODES)
    .default("safe");
}

export function modeOption(): Option {
  return new Option(
    "--mode <mode>",
    `sets the timeout: default ${fixedTime(MODE_TIMEOUTS_MS.default)}, slow ${fixedTime(MODE_TIMEOUTS_MS.slow)}, background (-b) ${fixedTime(MODE_TIMEOUTS_MS.background)}`,
  ).choices(MODES);
}

export function onTimeoutOption(): Option {
  return new Option(
    "--on-timeout <what>",
    `kill: end commands without a timeout after ${fixedTime(DEFAULT_TIMEOUT_MS)}; background: never end a command for its time (default: only a timeout in the call ends it)`,
  ).choices(ON_TIMEOUT);
}

/** `500`, `500ms`, `30s`, `5m`, `2h`; without a unit, milliseconds. */
export function readMs(text: string): number {
  const [, digits = "", unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const value = Number(digits) * (UNITS_MS[unit] ?? 1);
  if (digits !== "" && Number.isInteger(value) && value >= 1 && value <= TIMER_MAX_MS) return value;
  throw new InvalidArgumentError(
    `It must be a time such as 500ms, 30s, 5m or 2h; a plain number counts milliseconds, from 1 to ${TIMER_MAX_MS}.`,
  );
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function collectFilter(text: string, before: readonly PsFilter[] = []): PsFilter[] {
  const [given = "", ...rest] = text.split("=");
  const key = PS_FILTER_KEYS.find((name) => name === given);
  if (key && rest.length > 0) return [...before, { key, value: rest.join("=") }];
  throw new InvalidArgumentError(`It must be one of ${PS_FILTER_KEYS.join(", ")}, then = and a value.`);
}

export function readCount(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}

/** `TERM`, `SIGTERM`, `term` or `15`. */
export function readSignal(text: string): NodeJS.Signals {
  const name = text.toUpperCase().replace(/^(SIG)?/, "SIG");
  const found = Object.entries(constants.signals).find(
    ([signal, number]) => signal === name || String(number) === text,
  );
  if (found) return found[0] as NodeJS.Signals;
  throw new InvalidArgumentError("It must be a signal such as TERM, INT, HUP, USR1 or 15.");
}

export function readAddress(text: string): HttpAddress {
  try {
    return readHttpAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

/** Refuses an empty value, which usually comes from an unset variable. */
export function cwdOption(here: string, description: string): Option {
  return new Option("--cwd <dir>", description).default(here, "here").argParser((text) => {
    if (text === "") throw new InvalidArgumentError("It must be a directory, not empty.");
    return text;
  });
}

export function collectVariable(
  text: string,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be NAME=value.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
