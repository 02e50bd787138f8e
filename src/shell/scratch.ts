// The scratch directory of a shell: the only part of the shell's directory that a sandboxed session, or a shell started
// from the session, can see and write. It contains saved states. Do not trust anything in it.
import { join } from "node:path";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import { makeDirs } from "../support/make-dirs.ts";

export function scratchOf(dir: string): string {
  return join(dir, SESSION_NAMES.scratch);
}

export function makeScratch(dir: string): string {
  const scratch = scratchOf(dir);
  makeDirs(scratch);
  return scratch;
}
