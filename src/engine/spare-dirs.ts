// Reuses empty directories instead of removing them. rmdir frees a block, and some file systems then wait for the disk:
// on ext4 without a journal and with discard, rmdir takes milliseconds. A rename frees nothing.
//
// Spare directories have small numbers as names, so all nacre processes together keep only a few. Each process
// remembers which numbers it believes to be in use. If another process has taken or added a number first, the rename
// fails or replaces an empty directory.
//
// Keeps only directories of the state root, which no sandboxed command can open. A process that has a directory open
// can still write into it after a rename. If nacre kept directories of the workspace (placeholders), a sandboxed
// command could write outside its sandbox in this way.
import { lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { SPARE_DIRECTORIES_MAX_COUNT } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { fsPath, namesIn } from "../support/path-text.ts";

const NUMBERS = Array.from({ length: SPARE_DIRECTORIES_MAX_COUNT }, (_, index) => String(index));

export class SpareDirs {
  readonly #dir: string;
  /** The numbers of spare directories; undefined before the first use. */
  #spare: Set<string> | undefined;

  /** `dir`: private to this user. Directories on another file system never become spare ones. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Moves a spare directory to `path`, which must not exist. Returns false if the caller must create a directory. */
  take(path: string): boolean {
    for (const number of this.#numbers()) {
      const from = join(this.#dir, number);
      this.#numbers().delete(number);
      // A process that still has the directory open may have written into it.
      if (isEmpty(from) && isMoved(from, fsPath(path))) return true;
    }
    return false;
  }

  /** Makes an empty directory a spare one. Returns false if the caller must remove the directory. */
  keep(path: string): boolean {
    const numbers = this.#numbers();
    const free = NUMBERS.find((number) => !numbers.has(number));
    if (free === undefined || !isPlain(path) || !isEmpty(path)) return false;
    const from = fsPath(path);
    const to = join(this.#dir, free);
    if (!isMoved(from, to)) {
      attempt(() => makeDirs(this.#dir));
      if (!isMoved(from, to)) return false;
    }
    // Another process may have created a file since the check: move the directory back.
    if (!isEmpty(to) && isMoved(to, from)) return false;
    numbers.add(free);
    return true;
  }

  #numbers(): Set<string> {
    this.#spare ??= new Set(
      (attempt(() => namesIn(this.#dir)) ?? []).filter((name) => NUMBERS.includes(name)),
    );
    return this.#spare;
  }
}

/** Whether the directory has the owner and mode of a new one. */
function isPlain(path: string): boolean {
  const stat = attempt(() => lstatSync(fsPath(path)));
  return stat?.uid === process.geteuid?.() && ((stat?.mode ?? 0) & 0o7777) === 0o700;
}

function isEmpty(path: string): boolean {
  return attempt(() => namesIn(path).length) === 0;
}

function isMoved(from: string | Buffer, to: string | Buffer): boolean {
  return (
    attempt(() => {
      renameSync(from, to);
      return true;
    }) ?? false
  );
}
