// Removes the directory of a shell. Most have only files: a recursive removal would check each entry several times, which
// took a third of the host's time for a short command.
import { readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";

export function removeShellDir(dir: string): void {
  try {
    for (const name of readdirSync(dir)) unlinkSync(join(dir, name));
    rmdirSync(dir);
  } catch {
    // It has a directory, as that of a session does, or is gone, or another process removes it as well.
    rmSync(dir, { recursive: true, force: true });
  }
}
