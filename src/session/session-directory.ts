// Where a session's bash stands, and where it goes when that is gone. Looks only.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../support/attempt.ts";
import { fsPath, linkTarget } from "../support/path-text.ts";

/** Its directory has been removed, also if there is one of that name again. */
export function standsInNothing(pid: number): boolean {
  // Asked before every command. The name may end so by itself.
  if (!placeOf(pid)?.endsWith(GONE)) return false;
  return attempt(() => statSync(`/proc/${pid}/cwd`).nlink) === 0;
}

/** As the system names it. */
export function placeOf(pid: number): string | undefined {
  return attempt(() => linkTarget(`/proc/${pid}/cwd`));
}

/** A directory that is gone: the nearest one above it that is there. */
export function nearestDirectory(path: string): string {
  let dir = path;
  while (!existsSync(fsPath(dir)) && dir !== dirname(dir)) dir = dirname(dir);
  return dir;
}

/** Where it stands. `said` if that is true: PWD is a variable like any other, and may hold anything. */
export function directoryOf(pid: number, said: string): string | undefined {
  return attempt(() => {
    const real = statSync(`/proc/${pid}/cwd`);
    const named = statSync(fsPath(said), { throwIfNoEntry: false });
    if (named?.ino === real.ino && named.dev === real.dev) return said;
    const place = placeOf(pid);
    // The name of a directory that is there may end so by itself.
    return real.nlink === 0 && place?.endsWith(GONE) ? place.slice(0, -GONE.length) : place;
  });
}

const GONE = " (deleted)";
