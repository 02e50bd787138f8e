// Moves entries into and out of the workspace, all or none.
//
//   begin      writes the journal, and a link in previews/pending that points to its directory
//   apply      applies the steps in order, then marks the journal as done: from then on the transaction is valid
//   rollBack   reverts the steps if a step or the mark fails; after a kill, the next host does this (recover.ts)
//   end        removes the link after settle.ts has written the records and done what cannot be reverted
//
// A step moves an entry between the workspace and the directory of the transaction. Both are on one file system, so the
// move is a rename, and the entry keeps its inode, bytes, times and attributes. A rollback detects from the inode
// numbers in the journal which steps were done. Every path is resolved through open directories (HeldDirectory), so a
// link that another program plants has no effect.
import { chmodSync, linkSync, readlinkSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { fsPath, isWithin, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import { restoreTimes } from "./directory-times.ts";
import { type Entry, entryAt, isSameObject, treeBelow } from "./entry.ts";
import { type Journal, readJournal, type Step } from "./journal.ts";
import { ConflictError, keepsName, moveIn, moveOut } from "./move-entry.ts";
import { writeStored } from "./preview-record.ts";

export class Transaction {
  /** The directory of the commit or undo. */
  readonly dir: string;
  readonly #pending: string;
  readonly #journal: Journal;
  #isPending = false;
  #held: { readonly path: string; readonly directory: HeldDirectory } | undefined;

  constructor(dir: string, journal: Journal) {
    this.dir = dir;
    this.#journal = journal;
    const preview = dirname(dir);
    this.#pending = join(dirname(preview), PREVIEW_NAMES.pending, `${basename(preview)}.${basename(dir)}`);
  }

  /** The transactions that have begun but not ended. */
  static pending(previewsDir: string, names: readonly string[]): Transaction[] {
    return names.flatMap((name) => {
      const dir = attempt(() => readlinkSync(join(previewsDir, PREVIEW_NAMES.pending, name)));
      const journal = dir === undefined ? undefined : readJournal(dir);
      if (dir !== undefined && journal) return [new Transaction(dir, journal)];
      // Remove a link that has no journal: the host was killed after it had removed the journal.
      attempt(() => unlinkSync(join(previewsDir, PREVIEW_NAMES.pending, name)));
      return [];
    });
  }

  get journal(): Journal {
    return this.#journal;
  }

  /**
   * Whether the transaction has begun but not ended. If this is true after `apply` has thrown, the rollback has failed
   * too.
   */
  get isPending(): boolean {
    return this.#isPending;
  }

  begin(): void {
    makeDirs(dirname(this.#pending));
    // Write the journal before the link: a host that finds the link needs the journal.
    writeStored(join(this.dir, PREVIEW_NAMES.journal), this.#journal);
    symlinkSync(this.dir, this.#pending);
    this.#isPending = true;
  }

  /** If a step fails, rolls back and throws. If the rollback failed too, `isPending` stays true. */
  apply(): void {
    const { workspace, steps, entered, newTimes } = this.#journal;
    try {
      for (const step of steps) this.#applyOrConflict(step);
      restoreTimes(workspace, newTimes);
      const after = entered.flatMap((path) => {
        const entry = attempt(() => entryAt(join(workspace, path)));
        return entry ? [[path, entry] as const] : [];
      });
      writeStored(join(this.dir, PREVIEW_NAMES.journal), { ...this.#journal, state: "done", after });
    } catch (error) {
      this.#rollBackAfter(error);
      throw error;
    } finally {
      this.#close();
    }
  }

  /** Call this after writing the records of the preview. */
  end(): void {
    attempt(() => unlinkSync(this.#pending));
    this.#isPending = false;
  }

  /**
   * Restores the workspace. Idempotent: skips steps that were reverted or never done. If another program has created an
   * entry at the same path, the old entry stays in the directory of the transaction.
   */
  rollBack(): void {
    for (const step of this.#journal.steps.toReversed()) this.#revert(step);
    this.#close();
    restoreTimes(this.#journal.workspace, this.#journal.times);
    this.end();
  }

  #rollBackAfter(error: unknown): void {
    try {
      this.rollBack();
    } catch (failed) {
      throw new NacreError(
        "internal",
        `A change of ${shownPath(this.#journal.workspace)} failed half-way (${messageOf(error)}), and what was done could not be taken back: ${messageOf(failed)}. The files that it replaced are in ${shownPath(this.dir)}. Solve the problem, then commit or undo anything in this workspace: nacre first tries again to take the rest back.`,
        { cause: new AggregateError([error, failed]) },
      );
    }
  }

  /** Reports a conflict if another program has removed an entry or replaced a directory with a link meanwhile. */
  #applyOrConflict(step: Step): void {
    try {
      this.#apply(step);
    } catch (cause) {
      if (!["ENOENT", "ENOTDIR", "ELOOP"].includes(systemCode(cause) ?? "")) throw cause;
      throw new ConflictError(step.path, "is gone", { cause });
    }
  }

  /** Opens the directory without following links, because chmod() itself would follow a link. */
  #chmod(path: string, mode: number): void {
    const { workspace } = this.#journal;
    const directory = HeldDirectory.open(path === "." ? workspace : join(workspace, path));
    if (!directory) throw new ConflictError(path, "is gone, or has become a link");
    try {
      chmodSync(directory.at(""), mode);
    } finally {
      directory.close();
    }
  }

  #apply(step: Step): void {
    const { path, incoming, outgoing, mode, relocated } = step;
    if (mode) {
      this.#chmod(path, mode.to);
      return;
    }
    const real = this.#real(path);
    if (relocated) {
      const at = fsPath(join(this.dir, relocated.at));
      if (relocated.to === "transaction") moveOut(real, at, path);
      else moveIn(at, real, path, entryAt(join(this.dir, relocated.at))?.type === "directory");
      return;
    }
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

  #revert({ path, incoming, outgoing, mode, relocated }: Step): void {
    const real = attempt(() => this.#real(path));
    // If another program has removed the parent directory, skip the step: the entry has no place to return to.
    if (real === undefined) return;
    if (mode) {
      const now = this.#entry(path);
      if (now?.type === "directory" && now.mode === mode.to) attempt(() => this.#chmod(path, mode.from));
      return;
    }
    const there = this.#entry(path);
    if (relocated) {
      this.#revertRelocation(real, there, relocated);
      return;
    }
    const outPath = outgoing && join(this.dir, outgoing.at);
    const back = outPath === undefined ? undefined : entryAt(outPath);
    if (outPath !== undefined && back && there?.ino === back.ino) {
      // The file was not replaced yet: remove its second name.
      unlinkSync(fsPath(outPath));
      return;
    }
    const isOurs = incoming !== undefined && there?.ino === incoming.ino;
    if (isOurs) this.#takeBack(path, real, incoming, back !== undefined);
    // If another program has created an entry there, keep it. The old entry stays in the transaction's directory.
    if (outPath !== undefined && back && (isOurs || !there)) renameSync(fsPath(outPath), real);
  }

  #revertRelocation(
    real: string | Buffer,
    there: Entry | undefined,
    { at, to }: NonNullable<Step["relocated"]>,
  ): void {
    const path = join(this.dir, at);
    const aside = attempt(() => entryAt(path));
    if (to === "transaction") {
      if (aside && !there) renameSync(fsPath(path), real);
      return;
    }
    // Skip the step if the directory has not left the workspace yet.
    if (!there || !entryAt(dirname(path))) return;
    if (!aside) renameSync(real, fsPath(path));
    else if (aside.ino === there.ino) unlinkSync(real);
  }

  /** Moves an entry back to its origin. An undo must not lose the entry, because it is the state before the commit. */
  #takeBack(
    path: string,
    real: string | Buffer,
    incoming: NonNullable<Step["incoming"]>,
    isReplaced: boolean,
  ): void {
    const at = join(this.dir, incoming.at);
    if (incoming.isDirectory) {
      if (this.#journal.purpose === "undo" || !this.#hasUnknown(path)) renameSync(real, fsPath(at));
      else this.#removeOwn(path);
      return;
    }
    if (!entryAt(at)) linkSync(real, fsPath(at));
    // If the old entry returns to this path, its rename replaces this name atomically.
    if (!isReplaced) unlinkSync(real);
  }

  /** Whether another program has put something into a directory that this transaction moved in. */
  #hasUnknown(path: string): boolean {
    const own = new Set(this.#journal.entered);
    const { workspace } = this.#journal;
    return treeBelow(join(workspace, path)).some(([below]) => !own.has(`${path}/${below}`));
  }

  /** Removes this transaction's entries from a directory. The directory stays, with the entries of another program. */
  #removeOwn(path: string): void {
    const own = this.#journal.entered.filter((one) => isWithin(one, path));
    for (const one of own.toReversed()) {
      const isDirectory = this.#entry(one)?.type === "directory";
      attempt(() => (isDirectory ? rmdirSync(this.#real(one)) : unlinkSync(this.#real(one))));
    }
  }

  #entry(path: string): Entry | undefined {
    return attempt(() => entryAt(this.#realText(path)));
  }

  /**
   * The path of an entry for node:fs. No link in the path is followed, because the path starts at the open descriptor
   * of the entry's parent.
   */
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
