// Files through which shells that are started from a session get what they inherit: read once, at their start.
import { unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskProblem } from "../engine/slot-pool.ts";
import { SESSION_NAMES } from "../engine/state-dir.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";

export class Inheritances {
  #given: { readonly file: string; readonly shell: ShellProcess }[] = [];
  #count = 0;

  write(dir: string, script: string): string {
    // Those of shells that have ended were read long ago.
    this.#given = this.#given.filter(({ file, shell }) => {
      if (!shell.isRunning) attempt(() => unlinkSync(file));
      return shell.isRunning;
    });
    const file = join(dir, SESSION_NAMES.inherit(++this.#count));
    writeScript(file, script, dir);
    return file;
  }

  give(file: string, shell: ShellProcess): void {
    this.#given.push({ file, shell });
  }

  /** But for those that outlive the session and may be about to read theirs: they go with their directory. */
  removeAll(): void {
    for (const { file, shell } of this.#given) if (!shell.durable) attempt(() => unlinkSync(file));
  }
}

/** bash expands BASH_ENV like a word in double quotes. */
export function asBashEnv(path: string): string {
  return path.replace(/[\\$`]/g, "\\$&");
}

/** A script that a bash is to read, whole or not at all. `dir`: of the shell that it is for, or of its session's bash. */
export function writeScript(path: string, script: string, dir: string): void {
  try {
    writeFileSync(path, script, { flag: "wx", mode: 0o600, encoding: "latin1" });
  } catch (cause) {
    attempt(() => unlinkSync(path));
    throw new NacreError("spawn_failed", diskProblem(dirname(dirname(dir)), cause), { cause });
  }
}
