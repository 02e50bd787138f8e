// The part of a shell's directory that a sandboxed session may write to: its saved state. Nothing in there is to be
// trusted, and nothing else of the directory is in its reach: records and output are ours.
import { join } from "node:path";
import { makeDirs } from "../support/make-dirs.ts";

export function scratchOf(dir: string): string {
  return join(dir, "inside");
}

export function makeScratch(dir: string): string {
  const scratch = scratchOf(dir);
  makeDirs(scratch);
  return scratch;
}
