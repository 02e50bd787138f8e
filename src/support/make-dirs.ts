// Creates a directory and its parents, accessible to this user only.
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "./system-error.ts";

/**
 * Does not use Node's recursive mkdir, which has two bugs: it never returns if a directory cannot be created although
 * its parent exists (as below /proc), and on a read-only disk it reports a missing directory.
 */
export function makeDirs(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) === "EEXIST") return;
    if (systemCode(error) !== "ENOENT" || existsSync(dirname(path))) throw error;
    makeDirs(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}
