// The part of a shell's directory that a sandboxed session may write to: its saved state. Nothing in there is to be
// trusted, and nothing else of the directory is in its reach: records and output are ours.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export function scratchOf(dir: string): string {
  return join(dir, "inside");
}

export function makeScratch(dir: string): string {
  const scratch = scratchOf(dir);
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  return scratch;
}
