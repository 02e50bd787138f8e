// A directory with those above it, private to this user.
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "./system-error.ts";

/**
 * Node's own recursive mkdir never returns where a directory cannot be made although its parent exists (/proc), and
 * calls a read-only disk a missing directory.
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
