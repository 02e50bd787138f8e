// Commits a preview: writes its changes to the workspace, all or none.
//
//   commitPreview
//     withWorkspaceLock   one commit or undo at a time
//     conflictsWith       the workspace must be as the preview saw it
//     stageEntries        copies the new content; a full disk fails here, before anything is written
//     commitSteps         plans
//     Transaction.run     moves
//     settleCommit        the record of the preview
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { removeTree } from "../support/remove-tree.ts";
import { isFull } from "../support/system-error.ts";
import { commitSteps, timesAfter } from "./commit-steps.ts";
import { conflictsWith, PreviewConflict } from "./conflicts.ts";
import { timesOf } from "./directory-times.ts";
import { newJournal } from "./journal.ts";
import { ConflictError } from "./move-entry.ts";
import { type PreviewRecord, readLinked, readPlanted } from "./preview-record.ts";
import { type PreviewStore, selected } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";
import { acceptRestored, isCommittable, removeIfEmpty, settleCommit } from "./settle.ts";
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
    // Another process may have committed or discarded it while this one waited.
    const record = store.getPending(id);
    const all = store.changes(record);
    const changes = withParents(all, paths ? selected(all, paths, id) : all).filter(isCommittable);
    const conflicts = conflictsWith(workspace, changes);
    if (conflicts.length > 0) throw conflictIn(id, conflicts);
    if (changes.length === 0) return { record: store.update(record, "committed"), changes };
    const dir = join(store.dirOf(id), PREVIEW_NAMES.commit(record.commits + 1));
    store.update(record, "pending", { commits: record.commits + 1 });
    try {
      const transaction = await prepare(store, record, changes, dir);
      transaction.run();
      const settled = settleCommit(store, id, transaction.journal.paths);
      transaction.end();
      removeTree(join(dir, PREVIEW_NAMES.incoming));
      return { record: settled, changes };
    } catch (error) {
      removeIfEmpty(dir);
      attempt(() => acceptRestored(store, id));
      throw explained(error, id);
    }
  });
}

async function prepare(
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
  return new Transaction(
    dir,
    newJournal({
      workspace,
      purpose: "commit",
      paths: changes.map(({ path }) => path),
      ...{ steps, times, entered, twins },
      newTimes: timesAfter(upper, times, planted),
    }),
  );
}

/** Adds the new directories that the chosen changes are in. */
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
