// Records what a finished commit or undo means for its preview, and removes what is no longer needed. The host that ran
// it calls this, or the next one if that host was killed in between, so everything here can be repeated.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { removeTree } from "../support/remove-tree.ts";
import { restoreTimes } from "./directory-times.ts";
import { type PreviewRecord, readChanges, readPreview, writeChanges } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";
import { readJournal } from "./transaction.ts";

export function isCommittable({ after }: Change): boolean {
  return after?.type !== "socket" && after?.type !== "device";
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
  // Remove what the undo took out first: it may be a second name of a file that stays.
  for (const name of readdirSync(undoDir))
    if (name !== PREVIEW_NAMES.journal) removeTree(join(undoDir, name));
  if (journal) restoreTimes(journal.workspace, journal.times);
  removeTree(commitDir);
  const record = readPreview(store.dirOf(id)) ?? store.get(id);
  const updated = record.status === "pending" ? record : store.update(record, "undone");
  removeTree(undoDir);
  return updated;
}

/** Removes the directory of a commit that was rolled back, unless it still holds an entry of the workspace. */
export function removeIfEmpty(commitDir: string): void {
  const left = attempt(() => readdirSync(join(commitDir, PREVIEW_NAMES.outgoing))) ?? [];
  if (left.length === 0) removeTree(commitDir);
}
