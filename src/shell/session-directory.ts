// Where a session's bash stands, and where it goes when that is gone. Looks only.
import { existsSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Its directory has been removed, also if there is one of that name again. */
export function standsInNothing(pid: number): boolean {
  try {
    // Asked before every command. The name may end so by itself.
    if (!readlinkSync(`/proc/${pid}/cwd`).endsWith(" (deleted)")) return false;
    return statSync(`/proc/${pid}/cwd`).nlink === 0;
  } catch {
    return false;
  }
}

/** As the system names it. */
export function placeOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** A directory that is gone: the nearest one above it that is there. */
export function nearestDirectory(path: string): string {
  let dir = path;
  while (!existsSync(dir) && dir !== dirname(dir)) dir = dirname(dir);
  return dir;
}

/** Where it stands. `said` if that is true: PWD is a variable like any other, and may hold anything. */
export function directoryOf(pid: number, said: string): string | undefined {
  try {
    const real = statSync(`/proc/${pid}/cwd`);
    const named = statSync(said, { throwIfNoEntry: false });
    if (named?.ino === real.ino && named.dev === real.dev) return said;
    return readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, "");
  } catch {
    return undefined;
  }
}
