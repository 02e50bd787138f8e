// A named session on disk: its saved state while no process uses it, and a lock.
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";
import type { ProcessIdentity } from "./process-table.ts";
import { ROOT_NAMES, type StateRoot } from "./state-dir.ts";

export class SessionFile {
  readonly #path: string;
  readonly #lock: string;

  /** The names of all stored sessions, sorted. */
  static names(root: StateRoot): string[] {
    const dir = join(root.path, ROOT_NAMES.sessions);
    const files = attempt(() => readdirSync(dir)) ?? [];
    return files.flatMap((file) => /^([A-Za-z0-9][A-Za-z0-9._-]{0,63})\.json$/.exec(file)?.[1] ?? []).sort();
  }

  constructor(root: StateRoot, name: string) {
    // Check the name, because it becomes part of a path.
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
      throw new NacreError(
        "invalid_input",
        `"${name}" cannot be the name of a session. Start with a letter or digit, continue with letters, digits, dots, dashes and underscores, and use at most 64 characters.`,
      );
    }
    root.ensure();
    const dir = join(root.path, ROOT_NAMES.sessions);
    makeDirs(dir);
    this.#path = join(dir, `${name}.json`);
    this.#lock = join(dir, `${name}.lock`);
  }

  /** undefined if the file is missing or unreadable: the session then starts with clean state. */
  read(): unknown {
    try {
      return JSON.parse(readFileSync(this.#path, "utf8"));
    } catch {
      return undefined;
    }
  }

  /** Writes atomically: a reader finds either the old file or the new one. */
  write(saved: unknown): void {
    const fresh = `${this.#path}.${process.pid}`;
    this.#put(fresh, JSON.stringify(saved));
    renameSync(fresh, this.#path);
  }

  /** When it was last written, in milliseconds since the epoch. */
  writtenAt(): number | undefined {
    return attempt(() => statSync(this.#path).mtimeMs);
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }

  /**
   * Tries to take the lock. Returns undefined on success, else the holder of the lock. A dead holder loses the
   * lock.
   */
  take(holder: ProcessIdentity, isAlive: (holder: ProcessIdentity) => boolean): ProcessIdentity | undefined {
    for (;;) {
      // Use a hard link, so that no reader finds an empty lock file.
      const fresh = `${this.#lock}.${holder.pid}`;
      this.#put(fresh, `${holder.pid} ${holder.startTime}`);
      try {
        linkSync(fresh, this.#lock);
        return undefined;
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error;
      } finally {
        rmSync(fresh, { force: true });
      }
      const other = this.holder();
      if (other && isAlive(other)) return other;
      rmSync(this.#lock, { force: true });
    }
  }

  release(): void {
    rmSync(this.#lock, { force: true });
  }

  /** If the disk is full, removes the partial file. */
  #put(path: string, text: string): void {
    try {
      writeFileSync(path, text, { mode: 0o600 });
    } catch (cause) {
      rmSync(path, { recursive: true, force: true });
      throw new NacreError(
        "spawn_failed",
        `The session cannot be saved in ${this.#path}: ${messageOf(cause)}. Free some space, or set NACRE_HOME to a directory on another disk.`,
        { cause },
      );
    }
  }

  /** The process named in the lock file, alive or not. */
  holder(): ProcessIdentity | undefined {
    try {
      const [pid = "", startTime = ""] = readFileSync(this.#lock, "utf8").split(" ");
      return { pid: Number(pid), startTime };
    } catch {
      return undefined;
    }
  }
}
