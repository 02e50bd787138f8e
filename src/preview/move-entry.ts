// Moves one entry out of the workspace or into it. Never replaces an entry that another program has created there.
import { linkSync, renameSync, unlinkSync } from "node:fs";
import { NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";

/** The error for a path that has changed since the transaction was planned. */
export class ConflictError extends NacreError {
  readonly path: string;

  constructor(path: string, what: string, options?: { readonly cause?: unknown }) {
    super("conflict", `${shownPath(path)} ${what}`, options);
    this.path = path;
  }
}

/**
 * Gives the file a second name instead of moving it, so that there is always a file at its path. Returns false if the
 * file system refuses this.
 */
export function keepsName(real: string | Buffer, out: string | Buffer): boolean {
  try {
    linkSync(real, out);
    return true;
  } catch {
    return false;
  }
}

export function moveOut(real: string | Buffer, out: string | Buffer, path: string): void {
  try {
    renameSync(real, out);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw new ConflictError(path, "is gone");
    throw error;
  }
}

/**
 * Never replaces an entry that has appeared there: link() fails for an existing name, and rename() fails for a
 * directory with entries.
 */
export function moveIn(
  into: string | Buffer,
  real: string | Buffer,
  path: string,
  isDirectory: boolean,
): void {
  try {
    if (isDirectory) {
      renameSync(into, real);
      return;
    }
    linkSync(into, real);
  } catch (error) {
    if (["EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR"].includes(systemCode(error) ?? ""))
      throw new ConflictError(path, "exists now");
    if (isDirectory || !["EPERM", "ENOTSUP", "EMLINK", "ENOSYS"].includes(systemCode(error) ?? ""))
      throw error;
    renameSync(into, real);
    return;
  }
  unlinkSync(into);
}
