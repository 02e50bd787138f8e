// Where a command may run: says which directory is wrong and how, before anything is started.
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, sep } from "node:path";
import { NacreError } from "../support/errors.ts";
import { fsPath, isPathText, resolvedPath, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";

export function checkWorkingDir(dir: string, allowedRoots: readonly string[] | undefined): void {
  const problem = problemWith(dir) ?? problemWithRoots(dir, allowedRoots);
  if (problem) throw new NacreError("spawn_failed", `Working directory ${problem}: ${shownPath(dir)}`);
}

function problemWith(dir: string): string | undefined {
  if (dir.includes("\0")) return "contains a NUL character";
  if (!isAbsolute(dir)) return "is not an absolute path";
  if (!isPathText(dir)) return "is no path (it holds a lone surrogate that stands for no byte)";
  try {
    const path = fsPath(dir);
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

/** Whether a directory that exists is inside one of these, links followed. */
export function isWithinRoots(dir: string, allowedRoots: readonly string[]): boolean {
  return problemWithRoots(dir, allowedRoots) === undefined;
}

function problemWithRoots(dir: string, allowedRoots: readonly string[] | undefined): string | undefined {
  if (!allowedRoots || allowedRoots.some((root) => isWithin(resolvedPath(dir), root))) return undefined;
  return `is outside the allowed directories (${allowedRoots.map(shownPath).join(", ")})`;
}

function isWithin(real: string, root: string): boolean {
  let realRoot: string;
  try {
    realRoot = resolvedPath(root);
  } catch {
    return false;
  }
  return real === realRoot || real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
}
