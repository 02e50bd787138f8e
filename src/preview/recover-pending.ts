// Cleans up after a killed host: rolls back an unfinished commit or undo, and completes the records of a finished one.
// The caller holds the lock of the workspace.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSameProcess } from "../engine/process-table.ts";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { removeTree } from "../support/remove-tree.ts";
import { dropTwins } from "./hard-link-twins.ts";
import { readJournal } from "./journal.ts";
import type { PreviewStore } from "./preview-store.ts";
import { acceptRestored, acceptReturned, removeIfEmpty, settleCommit, settleUndo } from "./settle.ts";
import { Transaction } from "./transaction.ts";

/** The transactions whose host is dead. One readdir if there are none. */
export function abandonedTransactions({ dir }: PreviewStore): Transaction[] {
  const names = attempt(() => readdirSync(join(dir, PREVIEW_NAMES.pending))) ?? [];
  return Transaction.pending(dir, names).filter(
    ({ journal: { owner } }) => !isSameProcess(owner.pid, owner.startTime),
  );
}

export function recoverPending(store: PreviewStore, workspace: string): void {
  for (const transaction of abandonedTransactions(store))
    if (transaction.journal.workspace === workspace) recover(store, transaction);
}

function recover(store: PreviewStore, transaction: Transaction): void {
  const { dir, journal } = transaction;
  const id = basename(dirname(dir));
  if (journal.state === "begun") {
    transaction.rollBack();
    if (journal.purpose === "commit") {
      removeIfEmpty(dir);
      attempt(() => acceptRestored(store, id));
    } else dropTwinsOf(dir);
    return;
  }
  if (journal.purpose === "commit") {
    settleCommit(store, id, journal.paths);
    removeTree(join(dir, PREVIEW_NAMES.incoming));
  } else settleUndo(store, id, commitOf(dir), dir);
  transaction.end();
}

/** The undo had created the twins, and the commit stands. */
function dropTwinsOf(undoDir: string): void {
  const commitDir = commitOf(undoDir);
  dropTwins(commitDir, readJournal(commitDir)?.twins ?? []);
  attempt(() => acceptReturned(commitDir));
}

function commitOf(undoDir: string): string {
  const number = Number(/\.(\d+)$/.exec(basename(undoDir))?.[1]);
  return join(dirname(undoDir), PREVIEW_NAMES.commit(number));
}
