// Checks the command, its timeout, its variables and its directory before anything is started. Each check throws an
// error that names the value at fault.
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { attempt } from "./attempt.ts";
import { NacreError } from "./errors.ts";
import { fsPath, isPathText, isWithin, resolvedPath, shownPath } from "./path-text.ts";
import { systemCode } from "./system-error.ts";

/** All checks except checkSettable. */
export function checkStart(
  start: {
    readonly command: string;
    readonly timeoutMs: number | undefined;
    readonly workingDir: string | undefined;
  },
  allowedRoots: readonly string[] | undefined,
): void {
  checkCommand(start.command);
  checkTimeout(start.timeoutMs);
  if (start.workingDir !== undefined) checkWorkingDir(start.workingDir, allowedRoots);
}

export function checkCommand(command: string): void {
  const offset = command.indexOf("\0");
  if (offset >= 0) {
    throw new NacreError(
      "invalid_input",
      `The command contains a NUL character at offset ${offset}; bash cannot read it.`,
    );
  }
}

/** Refuses an invalid timeout, because setTimeout would treat it as 1 ms. */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && Number.isFinite(timeoutMs))) return;
  throw new NacreError(
    "invalid_input",
    `The option timeoutMs must be a number of milliseconds above 0, or undefined; it is ${timeoutMs}.`,
  );
}

/** Refuses the variables that bash reads from its environment before it reads its command. */
export function checkSettable(env: Readonly<Record<string, string>>): void {
  const name = ["SHELLOPTS", "BASHOPTS"].find((name) => name in env);
  if (name) {
    const instead = name === "SHELLOPTS" ? "set -o" : "shopt -s";
    throw new NacreError(
      "invalid_input",
      `${name} cannot be set from outside; put \`${instead} …\` into the command.`,
    );
  }
}

export function checkWorkingDir(dir: string, allowedRoots: readonly string[] | undefined): void {
  const problem = problemWith(dir) ?? problemWithRoots(dir, allowedRoots);
  if (problem) throw new NacreError("spawn_failed", `Working directory ${problem}: ${shownPath(dir)}`);
}

function problemWith(dir: string): string | undefined {
  if (dir.includes("\0")) return "contains a NUL character";
  if (!isAbsolute(dir)) return "is not an absolute path";
  const isUtf8 = dir.isWellFormed();
  if (!isUtf8 && !isPathText(dir))
    return "is not a path (it contains a lone surrogate that represents no byte)";
  try {
    const path = isUtf8 ? dir : fsPath(dir);
    if (!statSync(path).isDirectory()) return "is not a directory";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return "does not exist";
    if (code === "EACCES" || code === "EPERM") return "cannot be entered (permission denied)";
    if (code === "ENOTDIR") return "is not a directory";
    return `cannot be used (${String(code ?? error)})`;
  }
}

/** Whether an existing directory is inside one of the roots. Follows links. */
export function isWithinRoots(dir: string, allowedRoots: readonly string[]): boolean {
  return problemWithRoots(dir, allowedRoots) === undefined;
}

function problemWithRoots(dir: string, allowedRoots: readonly string[] | undefined): string | undefined {
  const existing = allowedRoots?.flatMap((root) => attempt(() => resolvedPath(root)) ?? []);
  if (!allowedRoots || existing?.some((root) => isWithin(resolvedPath(dir), root))) return undefined;
  return `is outside the allowed directories (${allowedRoots.map(shownPath).join(", ")})`;
}
