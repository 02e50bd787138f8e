// kit.previews: lists, shows, commits and discards previews, and undoes commits.
import {
  commitAdmitted,
  diffPreview,
  discardPreview,
  listPreviews,
  type PreviewCall,
  showPreview,
  undoPreview,
} from "../execution/preview-actions.ts";
import { changedPaths } from "../preview/describe-changes.ts";
import type { PreviewRecord } from "../preview/preview-record.ts";
import type { Change } from "../preview/scan-changes.ts";

/** A preview, with the changes that are not committed or discarded yet. */
export interface KitPreview {
  readonly previewId: string;
  readonly command: string;
  readonly workspace: string;
  readonly status: PreviewRecord["status"];
  readonly createdAt: Date;
  readonly exitCode: number | null;
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly notCaptured: readonly string[];
}

/**
 * Every function throws a NacreError for an unknown preview, and `conflict` if the workspace has changed since the
 * preview.
 */
export interface KitPreviews {
  /** Oldest first. */
  list(): KitPreview[];
  show(id: string, paths?: readonly string[]): KitPreview;
  /** In the format of `diff -u`. */
  diff(id: string, paths?: readonly string[]): Promise<string>;
  /** Writes all changes, or only those at these paths. Asks for approval if the command needs it. */
  commit(id: string, paths?: readonly string[]): Promise<KitPreview>;
  discard(id: string, paths?: readonly string[]): KitPreview;
  /** Undoes the commit of this preview, or the newest commit in the workspace. Returns the restored paths. */
  undo(id?: string): Promise<readonly string[]>;
}

export function kitPreviews(call: () => PreviewCall): KitPreviews {
  return {
    list: () => listPreviews(call()).map((record) => kitPreview(showable(record, call()))),
    show: (id, paths) => kitPreview(showPreview(id, call(), paths)),
    diff: async (id, paths) => (await diffPreview(id, call(), paths)).text,
    commit: async (id, paths) => kitPreview(await commitAdmitted(id, call(), paths)),
    discard: (id, paths) => kitPreview(discardPreview(id, call(), paths)),
    undo: async (id) => (await undoPreview(id, call())).paths,
  };
}

interface Shown {
  readonly record: PreviewRecord;
  readonly changes: readonly Change[];
}

/** Shows a swept preview without changes: its files are gone. */
function showable(record: PreviewRecord, call: PreviewCall): Shown {
  return record.status === "swept" ? { record, changes: [] } : showPreview(record.id, call);
}

function kitPreview({ record, changes }: Shown): KitPreview {
  const { id: previewId, command, workspace, status, createdAt, exitCode, notCaptured } = record;
  const paths = changedPaths(changes);
  return {
    previewId,
    command,
    workspace,
    status,
    createdAt: new Date(createdAt),
    exitCode,
    ...paths,
    notCaptured,
  };
}
