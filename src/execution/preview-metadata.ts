// The metadata of a preview in a result.
import { changedPaths } from "../preview/describe-changes.ts";
import type { PreviewRecord } from "../preview/preview-record.ts";
import type { Change } from "../preview/scan-changes.ts";

export interface PreviewMetadata {
  readonly preview_id: string;
  readonly preview_status: PreviewRecord["status"];
  /** Relative to the workspace. A model receives only the first ones. */
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly not_captured: readonly string[];
  /** The number of all changes, if the lists are cut. */
  readonly changes_total?: number;
}

export function previewMetadata(
  { id, status, notCaptured }: PreviewRecord,
  changes: readonly Change[],
  maxCount = Number.POSITIVE_INFINITY,
): PreviewMetadata {
  const { created, changed, deleted } = changedPaths(changes);
  const isCut = Math.max(created.length, changed.length, deleted.length) > maxCount;
  return {
    preview_id: id,
    preview_status: status,
    created: created.slice(0, maxCount),
    changed: changed.slice(0, maxCount),
    deleted: deleted.slice(0, maxCount),
    not_captured: notCaptured,
    ...(isCut ? { changes_total: changes.length } : {}),
  };
}
