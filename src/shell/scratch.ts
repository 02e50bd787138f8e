// The part of a shell's directory that a sandboxed session, or a shell started from it, may write to: its state. Nothing in there is to be
// trusted, and nothing else of the directory is in its reach: records and output are ours.
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
