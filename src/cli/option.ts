// Options that several commands share, and how their values are read.
import { constants } from "node:os";
import { resolve } from "node:path";
import { Argument, InvalidArgumentError, Option } from "commander";
import { type HttpAddress, readHttpAddress } from "../mcp/http-address.ts";
import { messageOf } from "../support/errors.ts";
import { TIMER_MAX_MS } from "../support/limits.ts";

export const POLICIES = ["off", "trusting", "standard", "cautious"] as const;
export const DIALECTS = ["shells", "modes"] as const;
export const FORMATS = ["mcp", "openai", "openai-strict", "anthropic", "gemini"] as const;
export const ENV_MODES = ["safe", "all", "core", "none"] as const;
export const MODES = ["default", "slow", "background"] as const;
export const ON_TIMEOUT = ["background", "kill"] as const;

export type Policy = (typeof POLICIES)[number];
export type DialectWord = (typeof DIALECTS)[number];
export type Format = (typeof FORMATS)[number];
export type EnvMode = (typeof ENV_MODES)[number];
export type Mode = (typeof MODES)[number];
export type OnTimeout = (typeof ON_TIMEOUT)[number];

export function createArgument(name: string, description: string, choices: readonly string[]): Argument {
  return new Argument(name, description).choices(choices);
}

export function policyOption(): Option {
  return new Option("--policy <profile>", "how strict the policy is").choices(POLICIES).default("standard");
}

export function policyFileOption(here: string): Option {
  return new Option(
    "--policy-file <file>",
    "rules of your own (default: nacre/policy.json in the XDG configuration directory)",
  ).argParser((text) => resolve(here, text));
}

export function dialectOption(): Option {
  return new Option("--dialect <name>", "which tools: Bash, BashOutput and KillShell, or the one tool bash")
    .choices(DIALECTS)
    .default("shells");
}

export function formatOption(): Option {
  return new Option("--format <name>", "whose format").choices(FORMATS).default("mcp");
}

export function envModeOption(): Option {
  return new Option(
    "--env-mode <mode>",
    "what it inherits: all but secrets and code injection, everything, the usual names, or only PATH",
  )
    .choices(ENV_MODES)
    .default("safe");
}

export function modeOption(): Option {
  return new Option(
    "--mode <mode>",
    "one word for its time: default 30 s, slow 15 min, background -b and 24 h",
  ).choices(MODES);
}

export function onTimeoutOption(): Option {
  return new Option(
    "--on-timeout <what>",
    "kill: end a command without a timeout at 120 s; background: never end one for its time (default: a timeout that was asked for ends it)",
  ).choices(ON_TIMEOUT);
}

/** `500`, `500ms`, `30s`, `5m`, `2h`: milliseconds where nothing else is said. */
export function readMs(text: string): number {
  const [, digits = "", unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text) ?? [];
  const value = Number(digits) * (UNITS_MS[unit] ?? 1);
  if (digits !== "" && Number.isInteger(value) && value >= 1 && value <= TIMER_MAX_MS) return value;
  throw new InvalidArgumentError(
    `It must be a time such as 500ms, 30s, 5m or 2h; a plain number counts milliseconds, from 1 to ${TIMER_MAX_MS}.`,
  );
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

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

/** Where to run; an empty word is a variable that was not set. */
export function cwdOption(here: string, description: string): Option {
  return new Option("--cwd <dir>", description).default(here, "here").argParser((text) => {
    if (text === "") throw new InvalidArgumentError("It must be a directory, and is empty.");
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
