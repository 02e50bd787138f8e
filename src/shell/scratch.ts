// The part of a shell's directory that a sandboxed session, or a shell started from it, may write to: its state. Nothing in there is to be
// trusted, and nothing else of the directory is in its reach: records and output are ours.
import { join } from "node:path";
import { makeDirs } from "../support/make-dirs.ts";

/** In the directory of its shell. */
export const SCRATCH_NAME = "inside";

export function scratchOf(dir: string): string {
  return join(dir, SCRATCH_NAME);
}

export function makeScratch(dir: string): string {
  const scratch = scratchOf(dir);
  makeDirs(scratch);
  return scratch;
}
