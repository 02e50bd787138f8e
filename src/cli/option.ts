// Options that several commands share, and how their values are read.
import { InvalidArgumentError, Option } from "commander";
import { type HttpAddress, readHttpAddress } from "../mcp/http-address.ts";
import { messageOf } from "../support/errors.ts";
import { TIMER_MAX_MS } from "../support/limits.ts";

export const POLICIES = ["off", "trusting", "standard", "cautious"] as const;
export const DIALECTS = ["shells", "modes"] as const;
export const FORMATS = ["mcp", "openai", "openai-strict", "anthropic", "gemini"] as const;
export const ON_TIMEOUT = ["background", "kill"] as const;

export type Policy = (typeof POLICIES)[number];
export type Dialect = (typeof DIALECTS)[number];
export type Format = (typeof FORMATS)[number];
export type OnTimeout = (typeof ON_TIMEOUT)[number];

export function policyOption(): Option {
  return new Option("--policy <profile>", "how strict the policy is").choices(POLICIES).default("standard");
}

export function policyFileOption(): Option {
  return new Option(
    "--policy-file <file>",
    "rules of your own (default: nacre/policy.json in the XDG configuration directory)",
  );
}

export function dialectOption(): Option {
  return new Option("--dialect <name>", "which tools: Bash, BashOutput and KillShell, or the one tool bash")
    .choices(DIALECTS)
    .default("shells");
}

export function formatOption(): Option {
  return new Option("--format <name>", "whose format").choices(FORMATS).default("mcp");
}

export function onTimeoutOption(): Option {
  return new Option("--on-timeout <what>", "what happens to a command whose time is over")
    .choices(ON_TIMEOUT)
    .default("background");
}

export function readMs(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= TIMER_MAX_MS) return value;
  throw new InvalidArgumentError(`It must be a whole number of milliseconds from 1 to ${TIMER_MAX_MS}.`);
}

export function readAddress(text: string): HttpAddress {
  try {
    return readHttpAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

export function collectVariable(
  text: string,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be NAME=value.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
