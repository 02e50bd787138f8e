// Placeholders: empty files and directories that nacre creates as mount points. They prevent a command from creating a
// missing path that must be hidden or protected. They are on the real disk while a shell needs them.
//
// Each shell has a note: a file that lists the shell's placeholders and is named after the shell's shim. Every nacre
// process can read the notes, so another process can clean up after a crash. A process holds a lock while it checks the
// disk and writes its note, and while it removes placeholders. Without the lock, it could remove a placeholder that
// another process has just found. Removing a file that is a mount point in another namespace also removes that mount.

import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LockOwner } from "../engine/process-lock.ts";
import type { ProcessIdentity } from "../engine/process-table.ts";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import { withLock } from "./placeholder-lock.ts";
import { kindOf } from "./real-path.ts";

export interface Placeholder {
  readonly path: string;
  readonly kind: "directory" | "file";
  readonly content?: string;
}

/** The process that outlives the sandbox: the shim. */
export type PlaceholderHolder = ProcessIdentity;

export class Placeholders {
  readonly #dir: string;
  readonly #owner: LockOwner;
  /** Notes by name. A note never changes. */
  readonly #notes = new Map<string, readonly Placeholder[]>();

  /** `dir` belongs to nacre and is hidden in every sandbox. */
  constructor(dir: string, owner: LockOwner) {
    this.#dir = dir;
    this.#owner = owner;
  }

  /**
   * Creates the placeholders of `plan`. They stay until the holder ends or `release` is called. `plan` receives a
   * predicate that recognizes existing placeholders. It must treat a placeholder as a path that does not exist.
   */
  hold<P extends { readonly placeholders: readonly Placeholder[] }>(
    holder: PlaceholderHolder,
    plan: (isPlaceholder: (path: string) => boolean) => P,
  ): P {
    makeDirs(this.#dir);
    return this.#locked(() => {
      const planned = plan(this.held());
      if (planned.placeholders.length === 0) return planned;
      // Write the note first: after a crash in between, no other process could find a placeholder without a note.
      const name = `${holder.pid}-${holder.startTime}`;
      const content = JSON.stringify(planned.placeholders);
      writeFileSync(join(this.#dir, name), content, { mode: 0o600 });
      this.#notes.set(name, planned.placeholders);
      for (const placeholder of planned.placeholders) create(placeholder);
      return planned;
    });
  }

  /** Returns a predicate: whether a path is a placeholder of any shell. */
  held(): (path: string) => boolean {
    const paths = new Set(namesIn(this.#dir).flatMap((name) => this.#read(name).map(({ path }) => path)));
    return (path) => paths.has(path);
  }

  release(holder: PlaceholderHolder): void {
    this.#sweep((other) => other.pid !== holder.pid || other.startTime !== holder.startTime);
  }

  /** Removes placeholders of shells that ended while no nacre process was running. */
  tidy(): void {
    if (namesIn(this.#dir).length > 0) this.#sweep(() => true);
  }

  #sweep(mayStay: (holder: PlaceholderHolder) => boolean): void {
    // If the lock cannot be taken, the notes stay, and the next sweep removes them.
    attempt(() => this.#locked(() => this.#removeEnded(mayStay)));
  }

  #removeEnded(mayStay: (holder: PlaceholderHolder) => boolean): void {
    const notes = namesIn(this.#dir).flatMap((name) => {
      const [, pid, startTime = ""] = /^(\d+)-(\d+)$/.exec(name) ?? [];
      if (pid === undefined) return [];
      const holder = { pid: Number(pid), startTime };
      // Check each holder only once: if the holder died between two checks, nacre would remove its note but not its
      // placeholders.
      return [{ name, hasEnded: !mayStay(holder) || !this.#owner.isAlive(holder) }];
    });
    const ended = notes.filter(({ hasEnded }) => hasEnded);
    const staying = notes.filter(({ hasEnded }) => !hasEnded).flatMap(({ name }) => this.#read(name));
    const stays = new Set(staying.map(({ path }) => path));
    const unused = ended.flatMap(({ name }) => this.#read(name)).filter(({ path }) => !stays.has(path));
    // Remove the innermost first, because a directory must be empty.
    for (const placeholder of unused.sort((a, b) => b.path.length - a.path.length)) remove(placeholder);
    for (const { name } of ended) {
      attempt(() => unlinkSync(join(this.#dir, name)));
      this.#notes.delete(name);
    }
  }

  /**
   * The placeholders in a note. Empty for a note that a crash left incomplete, because no placeholder of such a note
   * was created.
   */
  #read(name: string): readonly Placeholder[] {
    const known = this.#notes.get(name);
    if (known) return known;
    const path = join(this.#dir, name);
    const note = attempt(() => JSON.parse(readFileSync(path, "utf8")) as Placeholder[]);
    if (note) this.#notes.set(name, note);
    return note ?? [];
  }

  #locked<T>(work: () => T): T {
    return withLock(`${this.#dir}.lock`, this.#owner, work);
  }
}

function create({ path, kind, content = "" }: Placeholder): void {
  try {
    if (kind === "directory") mkdirSync(fsPath(path), { mode: 0o700 });
    else writeFileSync(fsPath(path), content, { flag: "wx", mode: 0o644 });
  } catch (cause) {
    if (systemCode(cause) === "EEXIST") return;
    throw new NacreError(
      "spawn_failed",
      `The sandbox cannot create the placeholder ${shownPath(path)}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Removes the placeholder only if it is unchanged: any other content was written by another program. */
function remove({ path, kind, content = "" }: Placeholder): void {
  if (kindOf(path) !== kind) return;
  attempt(() => {
    if (kind === "directory") rmdirSync(fsPath(path));
    else if (readFileSync(fsPath(path), "utf8") === content) unlinkSync(fsPath(path));
  });
}

function namesIn(directory: string): string[] {
  return attempt(() => readdirSync(directory)) ?? [];
}
