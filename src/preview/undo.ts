// Undoes a commit with the reverse steps in reverse order, if the workspace has not changed since the commit.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { namesIn, shownPath } from "../support/path-text.ts";
import { removeTree } from "../support/remove-tree.ts";
import { conflictsSince, PreviewConflict } from "./conflicts.ts";
import { timesOf } from "./directory-times.ts";
import { entryAt } from "./entry.ts";
import { dropTwins, restoreTwins } from "./hard-link-twins.ts";
import { type Journal, newJournal, readJournal, type Step } from "./journal.ts";
import { ConflictError } from "./move-entry.ts";
import type { PreviewRecord } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import { refreshCommitCtimes, settleTransaction } from "./settle.ts";
import { Transaction } from "./transaction.ts";
import { withWorkspaceLock } from "./workspace-lock.ts";

export interface Undone {
  readonly record: PreviewRecord;
  /** The paths that were restored to their state before the commit. */
  readonly paths: readonly string[];
}

/** The preview with the newest commit in this workspace. */
export function lastCommitted(store: PreviewStore, workspace: string, scope?: string): PreviewRecord {
  const inWorkspace = store.list({ workspace, ...(scope === undefined ? {} : { scope }) });
  const found = inWorkspace
    .filter((record) => lastCommit(store, record) !== undefined)
    .sort((a, b) => b.statusAt - a.statusAt)[0];
  if (found) return found;
  throw new NacreError(
    "invalid_input",
    `There is no commit to undo in ${shownPath(workspace)}. nacre preview list shows the previews, and nacre undo ID undoes the commit of one.`,
  );
}

export async function undoCommit(store: PreviewStore, { id, workspace }: PreviewRecord): Promise<Undone> {
  return await withWorkspaceLock(store, workspace, async () => {
    const record = store.get(id);
    const commit = lastCommit(store, record);
    // The commit of a preview without changes has no journal.
    if (!commit && record.status === "committed")
      return { record: store.update(record, "undone"), paths: [] };
    if (!commit) throw nothingToUndo(record);
    const { dir, journal, number } = commit;
    const conflicts = conflictsSince(journal);
    if (conflicts.length > 0) throw conflictIn(id, conflicts);
    restoreTwins(dir, workspace, journal.twins);
    const undoDir = join(store.dirOf(id), `${PREVIEW_NAMES.undone}.${number}`);
    removeTree(undoDir);
    mkdirSync(undoDir, { mode: 0o700 });
    const steps = undoSteps(journal, number);
    const times = timesOf(
      workspace,
      journal.times.map(([path]) => path),
    );
    const transaction = new Transaction(
      undoDir,
      newJournal({
        ...{ workspace, purpose: "undo", paths: journal.paths, steps, times, entered: [], twins: [] },
        newTimes: journal.times,
      }),
    );
    try {
      transaction.begin();
      transaction.apply();
    } catch (error) {
      if (!transaction.isPending) {
        dropTwins(dir, journal.twins);
        attempt(() => refreshCommitCtimes(dir));
        // Keep the directory if it contains more than the journal: then an entry could not return, because another
        // program has taken its path.
        if (readdirSync(undoDir).length <= 1) removeTree(undoDir);
      }
      if (error instanceof ConflictError)
        throw conflictIn(id, [{ path: error.path, what: "changed during the undo" }]);
      throw error;
    }
    return { record: settleTransaction(store, transaction), paths: journal.paths };
  });
}

interface LastCommit {
  readonly dir: string;
  readonly number: number;
  readonly journal: Journal;
}

function lastCommit(store: PreviewStore, { id, commits, status }: PreviewRecord): LastCommit | undefined {
  if (status === "swept") return undefined;
  for (let number = commits; number > 0; number--) {
    const dir = join(store.dirOf(id), PREVIEW_NAMES.commit(number));
    const journal = existsSync(dir) ? readJournal(dir) : undefined;
    if (journal?.state === "done") return { dir, number, journal };
  }
  return undefined;
}

function undoSteps(journal: Journal, number: number): Step[] {
  const { steps, after = [] } = journal;
  const commitDir = `../${PREVIEW_NAMES.commit(number)}`;
  const entered = new Map(after);
  return steps.toReversed().flatMap(({ path, incoming, outgoing, mode, relocated }, index): Step[] => {
    if (mode) return [{ path, mode: { from: mode.to, to: mode.from } }];
    if (relocated) return [];
    const isReplaced = incoming?.isDirectory === true && outgoing?.entry.type === "directory";
    const left = isReplaced ? entryAt(join(journal.workspace, path)) : incoming && entered.get(path);
    const back = outgoing && {
      at: `${commitDir}/${outgoing.at}`,
      ino: outgoing.entry.ino,
      isDirectory: outgoing.entry.type === "directory",
    };
    return [
      // If the commit replaced the directory, its entries return to the original directory.
      ...(isReplaced && back ? returningEntries(journal, path, back.at) : []),
      {
        path,
        ...(left ? { outgoing: { at: String(index), entry: undoneEntry(left, path, steps) } } : {}),
        ...(back ? { incoming: back } : {}),
      },
    ];
  });
}

/** Steps for the entries that are in the directory now or return to it in other steps of the undo. */
function returningEntries({ workspace, steps, entered }: Journal, path: string, original: string): Step[] {
  const gone = new Set(entered);
  const current = namesIn(join(workspace, path)).filter((name) => !gone.has(`${path}/${name}`));
  const restored = steps.filter((step) => step.outgoing && dirname(step.path) === path);
  const names = new Set([...current, ...restored.map((step) => basename(step.path))]);
  return [...names].map((name) => ({
    path: `${path}/${name}`,
    relocated: { at: `${original}/${name}`, to: "transaction" },
  }));
}

/**
 * The entry that an undo moves out. A new directory has its original mode by then, because the step that changed its
 * mode is undone first.
 */
function undoneEntry(
  entry: NonNullable<Journal["after"]>[number][1],
  path: string,
  steps: readonly Step[],
): NonNullable<Journal["after"]>[number][1] {
  if (entry.type !== "directory") return entry;
  const changed = steps.find((step) => step.path === path && step.mode)?.mode;
  return changed ? { ...entry, mode: changed.from } : entry;
}

function nothingToUndo({ id, status, statusAt }: PreviewRecord): NacreError {
  const at = new Date(statusAt).toISOString();
  const why = {
    running: "its command still runs",
    pending: `it is not committed; nacre preview commit ${id} does that`,
    committed: "its commit cannot be found",
    discarded: `it was discarded at ${at}, so it changed nothing`,
    undone: `its commit was already undone at ${at}`,
    swept: "its files are gone",
  }[status];
  return new NacreError("invalid_input", `There is nothing to undo for preview ${id}: ${why}.`);
}

function conflictIn(
  id: string,
  conflicts: ConstructorParameters<typeof PreviewConflict>[1],
): PreviewConflict {
  return new PreviewConflict(
    `The workspace has changed since the commit of preview ${id}`,
    conflicts,
    "Move these changes away, then undo again.",
  );
}
