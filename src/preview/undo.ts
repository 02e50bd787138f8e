// Takes a commit back: the same steps in the opposite order, if the workspace has not changed since.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { NacreError } from "../support/errors.ts";
import { shownPath } from "../support/path-text.ts";
import { removeTree } from "../support/remove-tree.ts";
import { conflictsSince, PreviewConflict } from "./conflicts.ts";
import { timesOf } from "./directory-times.ts";
import type { PreviewRecord } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import { settleUndo } from "./settle.ts";
import {
  ConflictError,
  type Journal,
  newJournal,
  readJournal,
  type Step,
  Transaction,
} from "./transaction.ts";
import { withWorkspaceLock } from "./workspace-lock.ts";

export interface Undone {
  readonly record: PreviewRecord;
  /** The paths that are as they were before the commit. */
  readonly paths: readonly string[];
}

/** The preview whose commit in this workspace is the newest. */
export function lastCommitted(store: PreviewStore, workspace: string, scope?: string): PreviewRecord {
  const inWorkspace = store.list({ workspace, ...(scope === undefined ? {} : { scope }) });
  const found = inWorkspace
    .filter((record) => lastCommit(store, record) !== undefined)
    .sort((a, b) => b.statusAt - a.statusAt)[0];
  if (found) return found;
  throw new NacreError(
    "invalid_input",
    `There is no commit to undo in ${shownPath(workspace)}. nacre preview list shows the previews, and nacre undo ID takes the commit of one back.`,
  );
}

export async function undoCommit(store: PreviewStore, { id, workspace }: PreviewRecord): Promise<Undone> {
  return await withWorkspaceLock(store, workspace, async () => {
    const record = store.get(id);
    const commit = lastCommit(store, record);
    // The commit of a preview without changes.
    if (!commit && record.status === "committed")
      return { record: store.update(record, "undone"), paths: [] };
    if (!commit) throw nothingToUndo(record);
    const { dir, journal, number } = commit;
    const conflicts = conflictsSince(journal);
    if (conflicts.length > 0) throw conflictIn(id, conflicts);
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
      newJournal({ workspace, purpose: "undo", paths: journal.paths, steps, times }),
    );
    try {
      transaction.run();
    } catch (error) {
      // The entries are back in the workspace, except for those whose place another program has taken.
      if (readdirSync(undoDir).length === 1) removeTree(undoDir);
      if (error instanceof ConflictError)
        throw conflictIn(id, [{ path: error.path, what: "changed during the undo" }]);
      throw error;
    }
    const settled = settleUndo(store, id, dir, undoDir);
    transaction.end();
    return { record: settled, paths: journal.paths };
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

function undoSteps({ steps, after = [] }: Journal, number: number): Step[] {
  const entered = new Map(after);
  return steps.toReversed().map(({ path, incoming, outgoing, mode }, index): Step => {
    if (mode) return { path, mode: { from: mode.to, to: mode.from } };
    const left = incoming && entered.get(path);
    return {
      path,
      ...(left ? { outgoing: { at: String(index), entry: undoneEntry(left, path, steps) } } : {}),
      ...(outgoing
        ? {
            incoming: {
              at: `../${PREVIEW_NAMES.commit(number)}/${outgoing.at}`,
              ino: outgoing.entry.ino,
              isDirectory: outgoing.entry.type === "directory",
            },
          }
        : {}),
    };
  });
}

/** A new directory has again the mode it was created with when it leaves: the step that changed it comes first. */
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
