// Things that are put where nothing is, so that a mask has something to be mounted on: a path that does not exist
// could otherwise be made by the command that must not have it. They are on the real disk for as long as a shell
// needs them, and gone after the last one.
//
// What a shell needs is in a note of its own, named after the shell's shim: every nacre process can read it, and the
// next one can tidy up after a crash. A lock covers each look at the disk together with the note that follows from
// it, and each removal: otherwise one process removes what another has just found in place. Removing a file that is
// a mount point in another namespace takes that mount away, too.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../engine/process-table.ts";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import { type LockOwner, withLock } from "./placeholder-lock.ts";
import { kindOf } from "./real-path.ts";

export interface Placeholder {
  readonly path: string;
  readonly kind: "directory" | "file";
  readonly content?: string;
}

/** The process that outlives the sandbox: its shim. */
export type PlaceholderHolder = ProcessIdentity;

export class Placeholders {
  readonly #dir: string;
  readonly #owner: LockOwner;
  /** By name. A note is written once. */
  readonly #notes = new Map<string, readonly Placeholder[]>();

  /** In a directory of ours that no sandbox sees. */
  constructor(dir: string, owner: LockOwner) {
    this.#dir = dir;
    this.#owner = owner;
  }

  /**
   * Puts those there that `plan` asks for, until the holder is gone or release is called for it. `plan` is told which
   * paths hold a place only: for a further shell, too, there is nothing there.
   */
  hold<P extends { readonly placeholders: readonly Placeholder[] }>(
    holder: PlaceholderHolder,
    plan: (isPlaceholder: (path: string) => boolean) => P,
  ): P {
    makeDirs(this.#dir);
    return this.#locked(() => {
      const planned = plan(this.held());
      if (planned.placeholders.length === 0) return planned;
      // First the note, then the things: a crash in between leaves nothing that no note names.
      const name = `${holder.pid}-${holder.startTime}`;
      const content = JSON.stringify(planned.placeholders);
      writeFileSync(join(this.#dir, name), content, { mode: 0o600 });
      this.#notes.set(name, planned.placeholders);
      for (const placeholder of planned.placeholders) create(placeholder);
      return planned;
    });
  }

  /** Tells of a path whether what is there is one of these. */
  held(): (path: string) => boolean {
    const paths = new Set(namesIn(this.#dir).flatMap((name) => this.#read(name).map(({ path }) => path)));
    return (path) => paths.has(path);
  }

  release(holder: PlaceholderHolder): void {
    this.#sweep((other) => other.pid !== holder.pid || other.startTime !== holder.startTime);
  }

  /** Removes those of shells that have ended while no nacre process watched. */
  tidy(): void {
    if (namesIn(this.#dir).length > 0) this.#sweep(() => true);
  }

  #sweep(mayStay: (holder: PlaceholderHolder) => boolean): void {
    // Where the lock cannot be had, the notes stay, and the next sweep finds their holders dead.
    quietly(() => this.#locked(() => this.#removeEnded(mayStay)));
  }

  #removeEnded(mayStay: (holder: PlaceholderHolder) => boolean): void {
    const notes = namesIn(this.#dir).flatMap((name) => {
      const [, pid, startTime = ""] = /^(\d+)-(\d+)$/.exec(name) ?? [];
      if (pid === undefined) return [];
      const holder = { pid: Number(pid), startTime };
      // Asked once for each holder: one that dies meanwhile would keep a file and lose the directory around it.
      return [{ name, isOver: !mayStay(holder) || !this.#owner.isAlive(holder) }];
    });
    const ended = notes.filter(({ isOver }) => isOver);
    const staying = notes.filter(({ isOver }) => !isOver).flatMap(({ name }) => this.#read(name));
    const stays = new Set(staying.map(({ path }) => path));
    const over = ended.flatMap(({ name }) => this.#read(name)).filter(({ path }) => !stays.has(path));
    // Innermost first: a directory goes when it is empty.
    for (const placeholder of over.sort((a, b) => b.path.length - a.path.length)) remove(placeholder);
    for (const { name } of ended) {
      quietly(() => unlinkSync(join(this.#dir, name)));
      this.#notes.delete(name);
    }
  }

  /** Empty where a crash left half a note: nothing was made yet. */
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
      `The sandbox cannot keep ${shownPath(path)} from being made: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** Only if it is as it was made: what was put there since belongs to others. */
function remove({ path, kind, content = "" }: Placeholder): void {
  if (kindOf(path) !== kind) return;
  quietly(() => {
    if (kind === "directory") rmdirSync(fsPath(path));
    else if (readFileSync(fsPath(path), "utf8") === content) unlinkSync(fsPath(path));
  });
}

function namesIn(directory: string): string[] {
  return attempt(() => readdirSync(directory)) ?? [];
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // It is gone, or not ours any more.
  }
}
