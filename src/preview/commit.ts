// Commits a preview: writes its changes to the workspace, all or none.
//
//   commitPreview
//     withWorkspaceLock   one commit or undo at a time
//     conflictsWith       compares the workspace with its state at the preview
//     stageEntries        copies the new content; on a full disk, fails before the workspace changes
//     commitSteps         plans the steps
//     Transaction         applies the steps, or rolls them back
//     settleTransaction   updates the record of the preview
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { isFull } from "../support/system-error.ts";
import { commitSteps, timesAfter } from "./commit-steps.ts";
import { conflictsWith, PreviewConflict } from "./conflicts.ts";
import { timesOf } from "./directory-times.ts";
import { type Journal, newJournal } from "./journal.ts";
import { ConflictError } from "./move-entry.ts";
import { type PreviewRecord, readLinked, readPlanted } from "./preview-record.ts";
import { type PreviewStore, selected } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";
import { isCommittable, refreshCtimes, removeIfEmpty, settleTransaction } from "./settle.ts";
import { stageEntries } from "./stage-entries.ts";
import { Transaction } from "./transaction.ts";
import { withWorkspaceLock } from "./workspace-lock.ts";

export interface Committed {
  readonly record: PreviewRecord;
  readonly changes: readonly Change[];
}

export async function commitPreview(
  store: PreviewStore,
  { id, workspace }: PreviewRecord,
  paths?: readonly string[],
): Promise<Committed> {
  return await withWorkspaceLock(store, workspace, async () => {
    // Read the record again: another process may have committed or discarded the preview during the wait.
    const record = store.getPending(id);
    const all = store.changes(record);
    const changes = withParents(all, paths ? selected(all, paths, id) : all).filter(isCommittable);
    const conflicts = conflictsWith(workspace, changes);
    if (conflicts.length > 0) throw conflictIn(id, conflicts);
    if (changes.length === 0) return { record: store.update(record, "committed"), changes };
    const dir = join(store.dirOf(id), PREVIEW_NAMES.commit(record.commits + 1));
    store.update(record, "pending", { commits: record.commits + 1 });
    const transaction = await begun(store, record, changes, dir).catch((error: unknown) => {
      cleanUp(store, id, dir, { paths: changes.map(({ path }) => path), steps: [] });
      throw explained(error, id);
    });
    try {
      transaction.apply();
    } catch (error) {
      if (!transaction.isPending) cleanUp(store, id, dir, transaction.journal);
      throw explained(error, id);
    }
    return { record: settleTransaction(store, transaction), changes };
  });
}

/**
 * Call this after a failed commit, when the workspace is unchanged or restored. `steps`: the steps that were done and
 * then rolled back.
 */
function cleanUp(
  store: PreviewStore,
  id: string,
  dir: string,
  journal: Pick<Journal, "paths" | "steps">,
): void {
  removeIfEmpty(dir);
  attempt(() => refreshCtimes(store, id, journal));
}

async function begun(
  store: PreviewStore,
  { id, workspace }: PreviewRecord,
  changes: readonly Change[],
  dir: string,
): Promise<Transaction> {
  const upper = join(store.dirOf(id), PREVIEW_NAMES.upper);
  mkdirSync(join(dir, PREVIEW_NAMES.outgoing), { recursive: true, mode: 0o700 });
  await stageEntries({ upper, workspace, commitDir: dir }, changes);
  const linked = readLinked(store.dirOf(id));
  const { steps, directories, entered, twins } = commitSteps({ commitDir: dir, workspace, changes, linked });
  const times = timesOf(workspace, directories);
  const planted = readPlanted(store.dirOf(id))?.times ?? [];
  const transaction = new Transaction(
    dir,
    newJournal({
      workspace,
      purpose: "commit",
      paths: changes.map(({ path }) => path),
      ...{ steps, times, entered, twins },
      newTimes: timesAfter(upper, times, planted),
    }),
  );
  transaction.begin();
  return transaction;
}

/** Adds the new directories that contain the chosen changes. */
function withParents(all: readonly Change[], chosen: readonly Change[]): Change[] {
  const wanted = new Set(chosen.map(({ path }) => path));
  for (const { path } of chosen) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      wanted.add(path.slice(0, at));
  }
  const isChosen = new Set(chosen);
  return all.filter(
    (change) =>
      isChosen.has(change) ||
      (wanted.has(change.path) && change.after?.type === "directory" && change.before?.type !== "directory"),
  );
}

function conflictIn(
  id: string,
  conflicts: ConstructorParameters<typeof PreviewConflict>[1],
): PreviewConflict {
  return new PreviewConflict(
    `The workspace has changed since preview ${id}`,
    conflicts,
    "Preview the command again, or commit other paths only.",
  );
}

function explained(error: unknown, id: string): unknown {
  if (error instanceof ConflictError)
    return conflictIn(id, [{ path: error.path, what: "changed during the commit" }]);
  if (isFull(error)) {
    return new NacreError(
      "limit_reached",
      `No space is left on the disk, so preview ${id} was not committed, and the workspace is as it was. Free some space, then commit again.`,
      { cause: error },
    );
  }
  return error;
}
