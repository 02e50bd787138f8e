// Removes the setuid bit from files that a commit would write: another user could run such a file with the rights of
// nacre's user. The system call filter prevents a command from setting the bit. But a command can rename or change a
// setuid file of the workspace, and on some CPUs there is no filter.
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fsPath } from "../support/path-text.ts";
import { entryAt } from "./entry.ts";
import type { Change } from "./scan-changes.ts";

export const S_ISUID = 0o4000;
export const S_ISGID = 0o2000;

export interface CleanedChanges {
  readonly changes: readonly Change[];
  /** The paths of the files that lost the bit. */
  readonly cleaned: readonly string[];
}

/** Call this only when no process of the command is left. */
export function withoutSetuidBits(upper: string, found: readonly Change[]): CleanedChanges {
  const cleaned: string[] = [];
  const changes = found.map((change) => {
    const { path, after, linkOf } = change;
    // Skip a new hard link to an unchanged file, because a commit only creates the link and writes no file.
    if (after?.type !== "file" || (after.mode & S_ISUID) === 0 || linkOf) return change;
    const file = join(upper, path);
    chmodSync(fsPath(file), after.mode & ~S_ISUID);
    cleaned.push(path);
    return { ...change, after: entryAt(file) ?? after };
  });
  return { changes, cleaned };
}
