// Cleans up after a host that was killed or could not roll back: rolls back an unfinished commit or undo, and completes
// the records of a finished one. The caller must have the lock of the workspace.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSameProcess } from "../engine/process-table.ts";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { dropTwins } from "./hard-link-twins.ts";
import { readJournal } from "./journal.ts";
import type { PreviewStore } from "./preview-store.ts";
import { commitOf, refreshCommitCtimes, refreshCtimes, removeIfEmpty, settleTransaction } from "./settle.ts";
import { Transaction } from "./transaction.ts";

/** The transactions of dead hosts. Costs only one readdir if there are none. */
export function abandonedTransactions(store: PreviewStore): Transaction[] {
  return pendingTransactions(store).filter(
    ({ journal: { owner } }) => !isSameProcess(owner.pid, owner.startTime),
  );
}

function pendingTransactions({ dir }: PreviewStore): Transaction[] {
  const names = attempt(() => readdirSync(join(dir, PREVIEW_NAMES.pending))) ?? [];
  return Transaction.pending(dir, names);
}

/** Also recovers the transactions of live owners: an owner that no longer has the lock has given up. */
export function recoverPending(store: PreviewStore, workspace: string): void {
  for (const transaction of pendingTransactions(store))
    if (transaction.journal.workspace === workspace) recover(store, transaction);
}

function recover(store: PreviewStore, transaction: Transaction): void {
  const { dir, journal } = transaction;
  const id = basename(dirname(dir));
  if (journal.state === "done") {
    settleTransaction(store, transaction);
    return;
  }
  transaction.rollBack();
  if (journal.purpose === "commit") {
    removeIfEmpty(dir);
    attempt(() => refreshCtimes(store, id, journal));
  } else dropTwinsOf(dir);
}

/**
 * Drops the twins that the undo has created again: the undo was rolled back, so the commit remains and its twins must
 * be dropped.
 */
function dropTwinsOf(undoDir: string): void {
  const commitDir = commitOf(undoDir);
  dropTwins(commitDir, readJournal(commitDir)?.twins ?? []);
  attempt(() => refreshCommitCtimes(commitDir));
}
