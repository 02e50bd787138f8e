// Ends what a killed host has begun: rolls an unfinished commit or undo back, and completes the records of a finished
// one. The caller holds the lock of the workspace.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSameProcess } from "../engine/process-table.ts";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { removeTree } from "../support/remove-tree.ts";
import type { PreviewStore } from "./preview-store.ts";
import { removeIfEmpty, settleCommit, settleUndo } from "./settle.ts";
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
    if (journal.purpose === "commit") removeIfEmpty(dir);
    return;
  }
  if (journal.purpose === "commit") {
    settleCommit(store, id, journal.paths);
    removeTree(join(dir, PREVIEW_NAMES.incoming));
  } else {
    const number = Number(/\.(\d+)$/.exec(basename(dir))?.[1]);
    settleUndo(store, id, join(dirname(dir), PREVIEW_NAMES.commit(number)), dir);
  }
  transaction.end();
}
