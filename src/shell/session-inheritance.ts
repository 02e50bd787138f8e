// Files through which shells that are started from a session get what they inherit: read once, at their start.
import { unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ShellProcess } from "./shell-process.ts";

export class Inheritances {
  #given: { readonly file: string; readonly shell: ShellProcess }[] = [];
  #count = 0;

  write(dir: string, script: string): string {
    // Those of shells that have ended were read long ago.
    this.#given = this.#given.filter(({ file, shell }) => {
      if (!shell.isRunning) unlinkQuietly(file);
      return shell.isRunning;
    });
    const file = join(dir, `inherit.${++this.#count}`);
    writeFileSync(file, script, { mode: 0o600, encoding: "latin1" });
    return file;
  }

  give(file: string, shell: ShellProcess): void {
    this.#given.push({ file, shell });
  }

  /** But for those that outlive the session and may be about to read theirs: they go with their directory. */
  removeAll(): void {
    for (const { file, shell } of this.#given) if (!shell.durable) unlinkQuietly(file);
  }
}

/** bash expands BASH_ENV like a word in double quotes. */
export function asBashEnv(path: string): string {
  return path.replace(/[\\$`]/g, "\\$&");
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone already.
  }
}
