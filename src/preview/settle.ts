// Updates the record of a preview after its commit or undo, and removes files that are no longer needed. If the host is
// killed in between, the next host repeats this, so every step is idempotent.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { removeTree } from "../support/remove-tree.ts";
import { restoreTimes } from "./directory-times.ts";
import { type Entry, entryAt, isSameObject } from "./entry.ts";
import { readJournal } from "./journal.ts";
import { type PreviewRecord, readChanges, readPreview, writeChanges, writeStored } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";

export function isCommittable({ after }: Change): boolean {
  return after?.type !== "device";
}

export function settleCommit(store: PreviewStore, id: string, paths: readonly string[]): PreviewRecord {
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

export function settleUndo(
  store: PreviewStore,
  id: string,
  commitDir: string,
  undoDir: string,
): PreviewRecord {
  const journal = readJournal(commitDir);
  // First remove the entries that the undo took out: one may be a second name of a file that stays.
  for (const name of readdirSync(undoDir))
    if (name !== PREVIEW_NAMES.journal) removeTree(join(undoDir, name));
  if (journal) restoreTimes(journal.workspace, journal.times);
  removeTree(commitDir);
  const record = readPreview(store.dirOf(id)) ?? store.get(id);
  const updated = record.status === "pending" ? record : store.update(record, "undone");
  removeTree(undoDir);
  return updated;
}

/**
 * A rename changes the ctime of a file. Without this, files that a rollback has restored would count as changed, and the
 * preview could not be committed any more. Size, times, mode and inode must be those that the preview saw.
 */
export function acceptRestored(store: PreviewStore, id: string): void {
  const record = readPreview(store.dirOf(id));
  if (record?.status !== "pending") return;
  const { workspace } = record;
  const refreshed = <T extends Entry | null>(path: string, known: T): T => {
    const now = known && attempt(() => entryAt(join(workspace, path)));
    return known && now && isSameObject(now, known) ? { ...known, ctimeNs: now.ctimeNs } : known;
  };
  const changes = readChanges(store.dirOf(id)).map((change) => ({
    ...change,
    before: refreshed(change.path, change.before),
    ...(change.linkOf && {
      linkOf: { path: change.linkOf.path, entry: refreshed(change.linkOf.path, change.linkOf.entry) },
    }),
  }));
  writeChanges(store.dirOf(id), changes);
}

/** The same for an undo that was rolled back: the commit stands, and its undo can be tried again. */
export function acceptReturned(commitDir: string): void {
  const journal = readJournal(commitDir);
  if (!journal?.after) return;
  const after = journal.after.map(([path, known]) => {
    const now = attempt(() => entryAt(join(journal.workspace, path)));
    return [path, now && isSameObject(now, known) ? { ...known, ctimeNs: now.ctimeNs } : known] as const;
  });
  writeStored(join(commitDir, PREVIEW_NAMES.journal), { ...journal, after });
}

/** Removes the directory of a commit that was rolled back, unless it still holds an entry of the workspace. */
export function removeIfEmpty(commitDir: string): void {
  const left = attempt(() => readdirSync(join(commitDir, PREVIEW_NAMES.outgoing))) ?? [];
  if (left.length === 0) removeTree(commitDir);
}
