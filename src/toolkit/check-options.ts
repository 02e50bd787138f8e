// Refuses invalid options before anything is started, with an error that names the option and the fix.

import { NacreError } from "../support/errors.ts";
import { MAX_TIMEOUT_MS } from "../support/limits.ts";
import { nearest } from "../support/nearest.ts";
import { shownPath } from "../support/path-text.ts";
import { isWithinRoots } from "../support/start-checks.ts";
import type { ToolkitOptions } from "./toolkit-options.ts";
import {
  absolutePath,
  callback,
  count,
  directory,
  flag,
  hook,
  listOf,
  object,
  oneOf,
  shownValue,
  text,
  type ValueCheck,
  variables,
} from "./value-checks.ts";

/** All options. Any other name is a mistake. */
const CHECKS: Readonly<Record<keyof ToolkitOptions, ValueCheck>> = {
  workingDir: directory,
  dialect: oneOf("shells", "modes"),
  approve: callback,
  scope: text,
  sessionId: text,
  hooks: listOf(hook, "objects with before, after or both, which are functions"),
  auditFile: text,
  defaultTimeoutMs: count(1),
  defaultDeadline: flag,
  maxTimeoutMs: count(1),
  maxOutputChars: count(1),
  onTimeout: oneOf("kill", "background"),
  returnAfterMs: count(1),
  durable: flag,
  profile: text,
  rawOutput: flag,
  redact: flag,
  policy: oneOf("off", "trusting", "standard", "cautious"),
  policyFile: text,
  rules: listOf(object, "rules"),
  entryPoint: oneOf("library", "cli", "mcp"),
  judge: callback,
  stateRoot: absolutePath,
  environment: object,
  shellPath: absolutePath,
  allowedRoots: listOf(absolutePath, "absolute paths"),
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
  writable: listOf(text, "paths"),
  hide: listOf(text, "paths"),
  gitConfig: flag,
  debuggers: flag,
  allowUnsandboxed: flag,
  maxProcesses: count(1),
  maxMemoryBytes: count(1),
  cpuSeconds: count(1),
  maxFileBytes: count(0),
};

const ENVIRONMENT_CHECKS: Readonly<Record<keyof NonNullable<ToolkitOptions["environment"]>, ValueCheck>> = {
  mode: oneOf("safe", "all", "core", "none"),
  include: listOf(text, "names"),
  exclude: listOf(text, "names"),
  set: variables,
};

export function checkToolkitOptions(options: ToolkitOptions): void {
  if (object(options) !== undefined)
    throw refused('createToolkit needs an object of options, for example { workingDir: "/srv/project" }.');
  checkAll(options, CHECKS, "");
  if (options.environment) checkAll(options.environment, ENVIRONMENT_CHECKS, "environment.");
  if (options.workingDir === undefined)
    throw refused("The option workingDir is missing: an absolute path of the directory commands run in.");
  const { defaultTimeoutMs, maxTimeoutMs = MAX_TIMEOUT_MS, allowedRoots, workingDir } = options;
  if (defaultTimeoutMs !== undefined && defaultTimeoutMs > maxTimeoutMs) {
    throw refused(
      `The option defaultTimeoutMs (${defaultTimeoutMs}) is longer than maxTimeoutMs (${maxTimeoutMs}): raise maxTimeoutMs or lower defaultTimeoutMs.`,
    );
  }
  if (allowedRoots && !isWithinRoots(workingDir, allowedRoots)) {
    throw refused(
      `The option workingDir (${shownPath(workingDir)}) is not inside allowedRoots (${allowedRoots.map(shownPath).join(", ")}): no command could start. Add it to allowedRoots, or use a directory inside them.`,
    );
  }
}

function checkAll(values: object, checks: Readonly<Record<string, ValueCheck>>, prefix: string): void {
  for (const [name, value] of Object.entries(values)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) throw unknownOption(name, Object.keys(checks), prefix);
    const wanted = value === undefined ? undefined : check(value);
    if (wanted !== undefined)
      throw refused(`The option ${prefix}${name} must be ${wanted}; it is ${shownValue(value)}.`);
  }
}

function unknownOption(name: string, known: readonly string[], prefix: string): NacreError {
  const near = nearest(name, known);
  const hint = near === undefined ? `There are: ${known.join(", ")}.` : `Did you mean ${prefix}${near}?`;
  return refused(`createToolkit has no option ${prefix}${name}. ${hint}`);
}

function refused(message: string): NacreError {
  return new NacreError("invalid_input", message);
}
