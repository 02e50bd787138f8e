// Summarizes a preview in a few lines for the person who decides about its command.
import { PREVIEW_SUMMARY_PATHS_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import type { PreviewSummary } from "../tool/context.ts";
import { SIGNS } from "./describe-changes.ts";
import type { PreviewRecord } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import type { Change } from "./scan-changes.ts";

function summaryOf({ id, notCaptured }: PreviewRecord, changes: readonly Change[]): PreviewSummary {
  const count = (kind: Change["kind"]) => changes.filter((change) => change.kind === kind).length;
  return {
    id,
    created: count("created"),
    changed: count("changed"),
    deleted: count("deleted"),
    not_captured: notCaptured.length,
    paths: changes
      .slice(0, PREVIEW_SUMMARY_PATHS_MAX_COUNT)
      .map(({ kind, path }) => `${SIGNS[kind]} ${shownPath(path)}`),
  };
}

/** The newest pending preview of this command in this directory. */
export function previewOf(
  store: PreviewStore,
  { command, cwd, scope }: { readonly command: string; readonly cwd: string; readonly scope: string },
): PreviewSummary | undefined {
  const found = store
    .list({ scope })
    .findLast((one) => one.status === "pending" && one.command === command && one.cwd === cwd);
  return found && summaryOf(found, store.changes(found));
}

/** `Preview preview_1a2b3c4d: 1 created, 2 deleted.`, and one line per path. */
export function summaryLines({
  id,
  created,
  changed,
  deleted,
  not_captured,
  paths,
}: PreviewSummary): string[] {
  const counts = Object.entries({ created, changed, deleted, "not captured": not_captured })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  const more = created + changed + deleted - paths.length;
  return [
    `Preview ${id}: ${counts.length === 0 ? "no changes" : counts.join(", ")}.`,
    ...paths,
    ...(more > 0 ? [`… and ${more} more`] : []),
  ];
}
