// Removes a directory with everything in it, including directories that their owner may not enter. Follows no link.
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { entriesOf, fsPath } from "./path-text.ts";

export function removeTree(path: string): void {
  const stat = lstatSync(fsPath(path), { throwIfNoEntry: false });
  if (!stat) return;
  try {
    rmSync(fsPath(path), { recursive: true, force: true });
  } catch {
    openDirectories(path, stat.mode);
    rmSync(fsPath(path), { recursive: true, force: true });
  }
}

function openDirectories(path: string, mode: number): void {
  if ((mode & 0o700) !== 0o700) chmodSync(fsPath(path), 0o700);
  for (const entry of entriesOf(path)) {
    if (!entry.isDirectory()) continue;
    const child = join(path, entry.name);
    openDirectories(child, lstatSync(fsPath(child)).mode);
  }
}
