// Creates and removes the directory of a shell. Most of these directories contain only files: a recursive removal
// would check each entry several times, which took a third of the host's time for a short command. nacre reuses the
// empty directory (spare-dirs.ts).
import { mkdirSync, readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { StateRoot } from "./state-dir.ts";

/** Throws EEXIST if the directory exists. */
export function makeShellDir(root: StateRoot, dir: string): void {
  if (!root.spareShellDirs.take(dir)) mkdirSync(dir, { mode: 0o700 });
}

export function removeShellDir(root: StateRoot, dir: string): void {
  try {
    for (const name of readdirSync(dir)) unlinkSync(join(dir, name));
    if (!root.spareShellDirs.keep(dir)) rmdirSync(dir);
  } catch {
    // The directory contains another directory, as that of a session does, or is gone, or another process is removing
    // it too.
    rmSync(dir, { recursive: true, force: true });
  }
}
