// Finds programs that nacre runs outside the sandbox, in directories that no sandboxed command can write.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { isWithin } from "../support/path-text.ts";
import { realPath } from "./real-path.ts";

const SYSTEM_DIRS = ["/usr/bin", "/bin", "/usr/local/bin"];

export function findBwrap(writable: readonly string[], path = process.env["PATH"]): string | undefined {
  return findProgram("bwrap", writable, path);
}

/** Searches the system directories first. Ignores files in writable paths. */
export function findProgram(
  name: string,
  writable: readonly string[],
  path = process.env["PATH"],
): string | undefined {
  const trusted = [0, process.getuid?.()];
  // In a user namespace, the real root appears under another uid: the uid that owns / and the system files.
  const system = [...trusted, statSync("/").uid];
  const dirs = (path ?? "").split(delimiter).filter(isAbsolute);
  const candidates = [
    ...SYSTEM_DIRS.map((dir) => ({ dir, owners: system })),
    ...dirs.map((dir) => ({ dir, owners: trusted })),
  ];
  for (const { dir, owners } of candidates) {
    const named = join(dir, name);
    const file = realPath(named);
    // Do not resolve links: a multi-call program such as busybox acts according to the name by which it is run.
    if (isTrusted(file, owners) && !writable.some((root) => isWithin(file, root)))
      return name === "bwrap" ? file : named;
  }
  return undefined;
}

function isTrusted(file: string, owners: readonly (number | undefined)[]): boolean {
  const stat = attempt(() => {
    accessSync(file, constants.X_OK);
    return statSync(file);
  });
  return stat !== undefined && (stat.mode & 0o022) === 0 && owners.includes(stat.uid);
}
