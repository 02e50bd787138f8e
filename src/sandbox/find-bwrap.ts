// Finds bubblewrap where no command in a sandbox can have put it.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin, realPath } from "./real-path.ts";

const USUAL_PLACES = ["/usr/bin", "/bin", "/usr/local/bin"];

/** The system's own first; one in PATH only if it lies outside everything that is writable. */
export function findBwrap(writable: readonly string[], path = process.env["PATH"]): string | undefined {
  const dirs = [...USUAL_PLACES, ...(path ?? "").split(delimiter).filter(isAbsolute)];
  for (const dir of dirs) {
    const file = realPath(join(dir, "bwrap"));
    if (isTrusted(file, writable)) return file;
  }
  return undefined;
}

function isTrusted(file: string, writable: readonly string[]): boolean {
  try {
    accessSync(file, constants.X_OK);
    const { mode, uid } = statSync(file);
    const isOthers = (mode & 0o022) !== 0 || (uid !== 0 && uid !== process.getuid?.());
    return !isOthers && !writable.some((root) => isWithin(file, root));
  } catch {
    return false;
  }
}
