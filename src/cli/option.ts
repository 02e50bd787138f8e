// Options that several commands share, and parsers for option values.
import { constants } from "node:os";
import { resolve } from "node:path";
import { Argument, InvalidArgumentError, Option } from "commander";
import { type HttpAddress, readHttpAddress } from "../mcp/http-address.ts";
import { SHELL_STATUSES } from "../shell/shell-status.ts";
import { wallMs } from "../support/clock.ts";
import { messageOf } from "../support/errors.ts";
import {
  DEFAULT_TIMEOUT_MS,
  MODE_BACKGROUND_TIMEOUT_MS,
  MODE_DEFAULT_TIMEOUT_MS,
  MODE_SLOW_TIMEOUT_MS,
  PORT_MAX_COUNT,
  TIMER_MAX_MS,
} from "../support/limits.ts";
import { nearest } from "../support/nearest.ts";
import { TOOL_GROUPS, type ToolGroup } from "../toolkit/toolkit-options.ts";
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

/** The examples in the help of a command. */
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

export function auditFileOption(here: string): Option {
  return new Option(
    "--audit-file <file>",
    "append a record of every command, verdict and approval; see nacre audit verify",
  ).argParser((text) => {
    if (text === "") throw new InvalidArgumentError("The name of the file must not be empty.");
    return resolve(here, text);
  });
}

export function dialectOption(): Option {
  return new Option("--dialect <name>", "which tools: Bash, BashOutput and KillShell, or the one tool bash")
    .choices(DIALECTS)
    .default("shells");
}

export function withOption(): Option {
  return new Option(
    "--with <groups>",
    `further tools, separated by commas: ${TOOL_GROUPS.join(", ")}`,
  ).argParser(readGroups);
}

function readGroups(text: string): readonly ToolGroup[] {
  return text.split(",").map((given) => {
    const group = TOOL_GROUPS.find((name) => name === given.trim());
    if (group) return group;
    throw new InvalidArgumentError(
      `There is no tool group ${JSON.stringify(given)}. Choose from: ${TOOL_GROUPS.join(", ")}.`,
    );
  });
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

export function shellProfileOption(): Option {
  return new Option(
    "--shell-profile <which>",
    "user: commands also get the variables that your shell's profile sets (nvm, conda, …)",
  ).choices(["none", "user"]);
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
    `kill: end commands without a timeout after ${fixedTime(DEFAULT_TIMEOUT_MS)}; background: never end a command for running too long (default: only a timeout in the call ends it)`,
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

/** A time in the past, in milliseconds since the epoch: `10m` ago, or an RFC 3339 time; a date alone is midnight UTC. */
export function readSince(text: string): number {
  if (/^\d+(\.\d+)?(ms|s|m|h)$/.test(text)) return wallMs() - readMs(text);
  const ms = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/i.test(text)
    ? Date.parse(text.replace(" ", "T"))
    : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError(
    "It must be how long ago, such as 30s, 10m or 2h, or a time such as 2026-01-31T09:30:00Z.",
  );
}

export function collectFilter(text: string, before: readonly PsFilter[] = []): PsFilter[] {
  const [given = "", ...rest] = text.split("=");
  const key = PS_FILTER_KEYS.find((name) => name === given);
  const value = rest.join("=");
  if (key === "status" && rest.length > 0) checkStatus(value);
  if (key && rest.length > 0) return [...before, { key, value }];
  throw new InvalidArgumentError(`It must be one of ${PS_FILTER_KEYS.join(", ")}, then = and a value.`);
}

function checkStatus(value: string): void {
  if (SHELL_STATUSES.some((status) => status === value)) return;
  throw new InvalidArgumentError(`There is no status ${value}. ${suggestion(value, SHELL_STATUSES)}`);
}

/** Suggests the nearest name for an unknown one, or lists all names. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? `Choose from: ${known.join(", ")}.` : `Did you mean ${near}?`;
}

export function readCount(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("It must be a whole number, 0 or more.");
}

export function readLine(text: string): number {
  const value = readCount(text);
  if (value >= 1) return value;
  throw new InvalidArgumentError("It must be a whole number, 1 or more.");
}

export function readPort(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= PORT_MAX_COUNT) return value;
  throw new InvalidArgumentError(`It must be a TCP port, from 1 to ${PORT_MAX_COUNT}.`);
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

/** An option for a directory. Refuses an empty value, which usually comes from an unset variable. */
export function cwdOption(here: string, description: string): Option {
  return new Option("--cwd <dir>", description).default(here, "here").argParser((text) => {
    if (text === "") throw new InvalidArgumentError("The name of the directory must not be empty.");
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

/** Key names, separated with commas. The terminal checks them. */
export function collectKeys(text: string, before: readonly string[] = []): string[] {
  return [...before, ...text.split(",").filter((name) => name !== "")];
}
