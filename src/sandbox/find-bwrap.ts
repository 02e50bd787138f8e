// Finds bubblewrap where no command in a sandbox can have put it.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin, realPath } from "./real-path.ts";

const USUAL_PLACES = ["/usr/bin", "/bin", "/usr/local/bin"];

/** The system's own first; one in PATH only if it lies outside everything that is writable. */
export function findBwrap(writable: readonly string[], path = process.env["PATH"]): string | undefined {
  const trusted = [0, process.getuid?.()];
  // In a user namespace root may have no number: what the system owns belongs to the owner of its root directory.
  const system = [...trusted, statSync("/").uid];
  const dirs = (path ?? "").split(delimiter).filter(isAbsolute);
  const places = [
    ...USUAL_PLACES.map((dir) => ({ dir, owners: system })),
    ...dirs.map((dir) => ({ dir, owners: trusted })),
  ];
  for (const { dir, owners } of places) {
    const file = realPath(join(dir, "bwrap"));
    if (isTrusted(file, owners) && !writable.some((root) => isWithin(file, root))) return file;
  }
  return undefined;
}

function isTrusted(file: string, owners: readonly (number | undefined)[]): boolean {
  try {
    accessSync(file, constants.X_OK);
    const { mode, uid } = statSync(file);
    return (mode & 0o022) === 0 && owners.includes(uid);
  } catch {
    return false;
  }
}
