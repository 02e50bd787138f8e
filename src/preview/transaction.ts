// Moves entries into and out of the workspace, all or none.
//
//   begin      writes the journal, and a link in previews/pending that names it
//   apply      one step after another; a failed step rolls everything back
//   finish     marks the journal as done: from then on the transaction counts
//   rollBack   after an error, or in the next host if this one was killed (recover.ts)
//
// A step moves what leaves the workspace to the directory of the transaction, and what enters it from there. Both are
// renames on one file system, so an entry keeps its inode, bytes, times and attributes. The inode numbers in the journal
// tell which steps were done. Every path is reached through directories that are held open (HeldDirectory), so that a
// link that another program plants leads nowhere.
import { chmodSync, linkSync, readlinkSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ProcessIdentity, thisProcess } from "../engine/process-table.ts";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import { type DirectoryTimes, restoreTimes } from "./directory-times.ts";
import { type Entry, entryAt, isSameObject } from "./entry.ts";
import { readStored, writeStored } from "./preview-record.ts";

/** One step. The paths in `incoming` and `outgoing` are relative to the transaction's directory. */
export interface Step {
  /** Relative to the workspace. */
  readonly path: string;
  readonly outgoing?: { readonly at: string; readonly entry: Entry };
  readonly incoming?: { readonly at: string; readonly ino: string; readonly isDirectory: boolean };
  /** Changes the mode of a directory. */
  readonly mode?: { readonly from: number; readonly to: number };
}

export interface Journal {
  readonly version: 1;
  readonly workspace: string;
  readonly owner: ProcessIdentity;
  readonly purpose: "commit" | "undo";
  readonly state: "begun" | "done";
  /** The paths of the changes, relative to the workspace. */
  readonly paths: readonly string[];
  readonly steps: readonly Step[];
  /** When the directories that the steps change were last modified, in ns. */
  readonly times: DirectoryTimes;
  /** What entered the workspace, as it was at the end. */
  readonly after?: readonly (readonly [string, Entry])[];
}

/** A path that is not as the transaction expects it. */
export class ConflictError extends NacreError {
  readonly path: string;

  constructor(path: string, what: string) {
    super("conflict", `${shownPath(path)} ${what}`);
    this.path = path;
  }
}

export class Transaction {
  /** The directory of the commit or undo. */
  readonly dir: string;
  readonly #pending: string;
  readonly #journal: Journal;
  #held: { readonly path: string; readonly directory: HeldDirectory } | undefined;

  constructor(dir: string, journal: Journal) {
    this.dir = dir;
    this.#journal = journal;
    const preview = dirname(dir);
    this.#pending = join(dirname(preview), PREVIEW_NAMES.pending, `${basename(preview)}.${basename(dir)}`);
  }

  /** The transactions that have begun and not ended. */
  static pending(previewsDir: string, names: readonly string[]): Transaction[] {
    return names.flatMap((name) => {
      const dir = attempt(() => readlinkSync(join(previewsDir, PREVIEW_NAMES.pending, name)));
      const journal = dir === undefined ? undefined : readJournal(dir);
      if (dir !== undefined && journal) return [new Transaction(dir, journal)];
      // Its host was killed after it had removed the journal.
      attempt(() => unlinkSync(join(previewsDir, PREVIEW_NAMES.pending, name)));
      return [];
    });
  }

  get journal(): Journal {
    return this.#journal;
  }

  run(): void {
    makeDirs(dirname(this.#pending));
    // The journal comes first: a host that finds the link needs it.
    writeStored(join(this.dir, PREVIEW_NAMES.journal), this.#journal);
    symlinkSync(this.dir, this.#pending);
    try {
      for (const step of this.#journal.steps) this.#apply(step);
    } catch (error) {
      this.rollBack();
      throw error;
    } finally {
      this.#close();
    }
    const after = this.#journal.steps.flatMap(({ path, incoming }) => {
      const entry = incoming && attempt(() => entryAt(join(this.#journal.workspace, path)));
      return entry ? [[path, entry] as const] : [];
    });
    writeStored(join(this.dir, PREVIEW_NAMES.journal), { ...this.#journal, state: "done", after });
  }

  /** Call this when the caller's own records say what has happened. */
  end(): void {
    attempt(() => unlinkSync(this.#pending));
  }

  /**
   * Restores the workspace. Can be repeated: a step that was undone, or never done, is skipped. An entry that cannot
   * return, because another program has taken its place, stays in the directory of the transaction.
   */
  rollBack(): void {
    for (const step of this.#journal.steps.toReversed()) this.#revert(step);
    this.#close();
    restoreTimes(this.#journal.workspace, this.#journal.times);
    this.end();
  }

  #apply(step: Step): void {
    const { path, incoming, outgoing, mode } = step;
    if (mode) {
      chmodSync(this.#real(path), mode.to);
      return;
    }
    const real = this.#real(path);
    const out = outgoing && fsPath(join(this.dir, outgoing.at));
    const into = incoming && fsPath(join(this.dir, incoming.at));
    const isReplacement =
      out && into && outgoing.entry.type !== "directory" && !incoming.isDirectory && keepsName(real, out);
    if (out && !isReplacement) moveOut(real, out, path);
    if (outgoing) {
      const moved = entryAt(join(this.dir, outgoing.at));
      if (!moved || !isSameObject(moved, outgoing.entry)) throw new ConflictError(path, "has changed");
    }
    if (!into) return;
    if (isReplacement) renameSync(into, real);
    else moveIn(into, real, path, incoming.isDirectory);
  }

  #revert({ path, incoming, outgoing, mode }: Step): void {
    const real = attempt(() => this.#real(path));
    // Another program has removed the directory: there is nothing to restore into.
    if (real === undefined) return;
    if (mode) {
      const now = this.#entry(path);
      if (now?.type === "directory" && now.mode === mode.to) attempt(() => chmodSync(real, mode.from));
      return;
    }
    const there = this.#entry(path);
    const outPath = outgoing && join(this.dir, outgoing.at);
    const back = outPath === undefined ? undefined : entryAt(outPath);
    if (outPath !== undefined && back && there?.ino === back.ino) {
      // The second name of a file that was not replaced yet.
      unlinkSync(fsPath(outPath));
      return;
    }
    const isOurs = incoming !== undefined && there?.ino === incoming.ino;
    if (isOurs) this.#takeBack(real, incoming, back !== undefined);
    // What another program has put there meanwhile stays, and the entry stays in the directory of the transaction.
    if (outPath !== undefined && back && (isOurs || !there)) renameSync(fsPath(outPath), real);
  }

  /** Moves an entry back to where it came from. An undo must not lose it, because it is the state before the commit. */
  #takeBack(real: string | Buffer, incoming: NonNullable<Step["incoming"]>, isReplaced: boolean): void {
    const at = join(this.dir, incoming.at);
    if (incoming.isDirectory) {
      // A commit creates empty directories. If another program has used one, it stays.
      if (this.#journal.purpose === "undo") renameSync(real, fsPath(at));
      else attempt(() => rmdirSync(real));
      return;
    }
    if (!entryAt(at)) linkSync(real, fsPath(at));
    // The rename of the old entry replaces this name without a gap.
    if (!isReplaced) unlinkSync(real);
  }

  #entry(path: string): Entry | undefined {
    return attempt(() => entryAt(this.#realText(path)));
  }

  /** The entry at this path, for node:fs, without following any link on the way. */
  #real(path: string): string | Buffer {
    return fsPath(this.#realText(path));
  }

  #realText(path: string): string {
    const { workspace } = this.#journal;
    const parent = path === "." ? workspace : join(workspace, dirname(path));
    if (this.#held?.path !== parent) {
      this.#close();
      const directory = HeldDirectory.open(parent);
      if (!directory)
        throw new ConflictError(path, "cannot be reached: its directory is gone, or has become a link");
      this.#held = { path: parent, directory };
    }
    return this.#held.directory.textAt(path === "." ? "." : basename(path));
  }

  #close(): void {
    this.#held?.directory.close();
    this.#held = undefined;
  }
}

export function newJournal(
  rest: Pick<Journal, "workspace" | "purpose" | "paths" | "steps" | "times">,
): Journal {
  return { version: 1, owner: thisProcess(), state: "begun", ...rest };
}

export function readJournal(dir: string): Journal | undefined {
  return readStored(join(dir, PREVIEW_NAMES.journal)) as Journal | undefined;
}

/** Gives the file a second name, so that the path is never without a file. False if the file system cannot do that. */
function keepsName(real: string | Buffer, out: string | Buffer): boolean {
  try {
    linkSync(real, out);
    return true;
  } catch {
    return false;
  }
}

function moveOut(real: string | Buffer, out: string | Buffer, path: string): void {
  try {
    renameSync(real, out);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw new ConflictError(path, "is gone");
    throw error;
  }
}

/** Never replaces what has appeared meanwhile: link() fails for an existing name, and rename() for a directory with entries. */
function moveIn(into: string | Buffer, real: string | Buffer, path: string, isDirectory: boolean): void {
  try {
    if (isDirectory) {
      renameSync(into, real);
      return;
    }
    linkSync(into, real);
  } catch (error) {
    if (["EEXIST", "ENOTEMPTY", "ENOTDIR", "EISDIR"].includes(systemCode(error) ?? ""))
      throw new ConflictError(path, "exists now");
    if (isDirectory || !["EPERM", "ENOTSUP", "EMLINK", "ENOSYS"].includes(systemCode(error) ?? ""))
      throw error;
    renameSync(into, real);
    return;
  }
  unlinkSync(into);
}
