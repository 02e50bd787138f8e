// Updates the record of a preview after its commit or undo, and removes files that are no longer needed. All steps are
// idempotent: if one fails or the host is killed, the next commit or undo in the workspace repeats them.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { removeTree } from "../support/remove-tree.ts";
import { isFull } from "../support/system-error.ts";
import { type Entry, entryAt, isSameObject } from "./entry.ts";
import { dropTwins } from "./hard-link-twins.ts";
import { type Journal, readJournal } from "./journal.ts";
import { type PreviewRecord, readChanges, readPreview, writeChanges, writeStored } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";
import type { Transaction } from "./transaction.ts";

export function isCommittable({ after }: Change): boolean {
  return after?.type !== "device";
}

/** Settles a transaction whose journal is marked as done, and ends it. */
export function settleTransaction(store: PreviewStore, transaction: Transaction): PreviewRecord {
  const { dir, journal } = transaction;
  const id = basename(dirname(dir));
  try {
    const record =
      journal.purpose === "commit" ? settleCommit(store, id, dir, journal) : settleUndo(store, id, dir);
    transaction.end();
    return record;
  } catch (cause) {
    const what =
      journal.purpose === "commit"
        ? `The changes of preview ${id} are in the workspace`
        : `The commit of preview ${id} was undone`;
    throw new NacreError(
      isFull(cause) ? "limit_reached" : "internal",
      `${what}, but nacre could not write its record: ${messageOf(cause)}. Solve the problem${isFull(cause) ? " (free some space)" : ""}; the next commit or undo in this workspace completes the record.`,
      { cause },
    );
  }
}

function settleCommit(store: PreviewStore, id: string, commitDir: string, journal: Journal): PreviewRecord {
  // Drop the twins only after the commit: a rollback needs them.
  dropTwins(commitDir, journal.twins);
  const record = recordCommit(store, id, journal.paths);
  removeTree(join(commitDir, PREVIEW_NAMES.incoming));
  return record;
}

function recordCommit(store: PreviewStore, id: string, paths: readonly string[]): PreviewRecord {
  const dir = store.dirOf(id);
  const done = new Set(paths);
  const rest = readChanges(dir).filter((change) => !done.has(change.path) && isCommittable(change));
  const record = readPreview(dir) ?? store.get(id);
  if (rest.length > 0) {
    writeChanges(dir, rest);
    return store.update(record, "pending");
  }
  const committed = store.update(record, "committed");
  store.removeLayers(id);
  return committed;
}

function settleUndo(store: PreviewStore, id: string, undoDir: string): PreviewRecord {
  // First remove the entries that the undo moved out, because one of them may be a second name of a file that stays.
  for (const name of readdirSync(undoDir))
    if (name !== PREVIEW_NAMES.journal) removeTree(join(undoDir, name));
  removeTree(commitOf(undoDir));
  const record = readPreview(store.dirOf(id)) ?? store.get(id);
  const updated = record.status === "pending" ? record : store.update(record, "undone");
  removeTree(undoDir);
  return updated;
}

/** The directory of the commit that an undo reverts. */
export function commitOf(undoDir: string): string {
  const number = Number(/\.(\d+)$/.exec(basename(undoDir))?.[1]);
  return join(dirname(undoDir), PREVIEW_NAMES.commit(number));
}

/**
 * Stores the new ctimes of files that a failed commit has moved and restored. A rename or a second name changes the
 * ctime, so these files would count as changed, and the preview could never be committed. Requires that size, mtime,
 * mode and inode are unchanged. Other files keep their stored ctime, which reveals changes by other programs.
 */
export function refreshCtimes(
  store: PreviewStore,
  id: string,
  { paths, steps }: Pick<Journal, "paths" | "steps">,
): void {
  const record = readPreview(store.dirOf(id));
  if (record?.status !== "pending") return;
  const { workspace } = record;
  const known = readChanges(store.dirOf(id));
  const committed = new Set(paths);
  const touched = new Set([
    ...steps.filter(({ outgoing, relocated }) => outgoing ?? relocated).map(({ path }) => path),
    // Staging gave these files a second name, which changed their ctime.
    ...known.flatMap(({ path, linkOf }) => (linkOf && committed.has(path) ? [linkOf.path] : [])),
  ]);
  const refreshed = <T extends Entry | null>(path: string, entry: T): T => {
    const now = entry && touched.has(path) ? attempt(() => entryAt(join(workspace, path))) : undefined;
    return entry && now && isSameObject(now, entry) ? { ...entry, ctimeNs: now.ctimeNs } : entry;
  };
  const changes = known.map((change) => ({
    ...change,
    before: refreshed(change.path, change.before),
    ...(change.linkOf && {
      linkOf: { path: change.linkOf.path, entry: refreshed(change.linkOf.path, change.linkOf.entry) },
    }),
  }));
  writeChanges(store.dirOf(id), changes);
}

/**
 * Like refreshCtimes, but for a commit whose undo was rolled back: the commit remains, and its undo can be tried again.
 */
export function refreshCommitCtimes(commitDir: string): void {
  const journal = readJournal(commitDir);
  if (!journal?.after) return;
  const after = journal.after.map(([path, known]) => {
    const now = attempt(() => entryAt(join(journal.workspace, path)));
    return [path, now && isSameObject(now, known) ? { ...known, ctimeNs: now.ctimeNs } : known] as const;
  });
  writeStored(join(commitDir, PREVIEW_NAMES.journal), { ...journal, after });
}

/** Removes the directory of a commit that was rolled back, unless it still contains an entry of the workspace. */
export function removeIfEmpty(commitDir: string): void {
  const left = attempt(() => readdirSync(join(commitDir, PREVIEW_NAMES.outgoing))) ?? [];
  if (left.length === 0) removeTree(commitDir);
}
