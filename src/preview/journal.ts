// Stores the planned steps of a commit or undo on disk, so that another process can roll them back.
import { join } from "node:path";
import { type ProcessIdentity, thisProcess } from "../engine/process-table.ts";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import type { DirectoryTimes } from "./directory-times.ts";
import type { Entry } from "./entry.ts";
import type { Twin } from "./hard-link-twins.ts";
import { readStored } from "./preview-record.ts";

/** One step. The paths in `incoming` and `outgoing` are relative to the transaction's directory. */
export interface Step {
  /** Relative to the workspace. */
  readonly path: string;
  readonly outgoing?: { readonly at: string; readonly entry: Entry };
  readonly incoming?: { readonly at: string; readonly ino: string; readonly isDirectory: boolean };
  /** Moves an entry between the workspace and a directory that has left the workspace or will return to it. */
  readonly relocated?: { readonly at: string; readonly to: "workspace" | "transaction" };
  /** Changes the mode of a directory. */
  readonly mode?: { readonly from: number; readonly to: number };
}

export interface Journal {
  readonly version: 1;
  readonly workspace: string;
  readonly owner: ProcessIdentity;
  readonly purpose: "commit" | "undo";
  readonly state: "begun" | "done";
  /** The paths of the changes, relative to the workspace. */
  readonly paths: readonly string[];
  readonly steps: readonly Step[];
  /** The modification times of the directories that the steps change, before the transaction. */
  readonly times: DirectoryTimes;
  /** The modification times of the same directories after the transaction. */
  readonly newTimes: DirectoryTimes;
  /** The paths with a new entry in the workspace after the transaction. */
  readonly entered: readonly string[];
  /** Removed files that stay under another name. Empty for an undo. */
  readonly twins: readonly Twin[];
  /** The entries at these paths after the transaction. */
  readonly after?: readonly (readonly [string, Entry])[];
}

export function newJournal(rest: Omit<Journal, "version" | "owner" | "state" | "after">): Journal {
  return { version: 1, owner: thisProcess(), state: "begun", ...rest };
}

export function readJournal(dir: string): Journal | undefined {
  return readStored(join(dir, PREVIEW_NAMES.journal)) as Journal | undefined;
}
