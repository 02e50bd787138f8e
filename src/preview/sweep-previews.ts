// Removes previews that are too old, and previews of hosts that were killed during the command. If the rest exceeds the
// quota, removes the oldest. The record stays for a while, so that a caller that asks for the preview learns why it is
// gone. The commit of a swept preview can no longer be undone.
import { isSameProcess } from "../engine/process-table.ts";
import { monotonicMs, wallMs } from "../support/clock.ts";
import {
  PREVIEW_FORGOTTEN_AFTER_MS,
  PREVIEW_MAX_AGE_MS,
  PREVIEWS_QUOTA_BYTES,
  PREVIEWS_SWEEP_INTERVAL_MS,
} from "../support/limits.ts";
import type { PreviewRecord } from "./preview-record.ts";
import type { PreviewStore } from "./preview-store.ts";
import { measured } from "./size-watch.ts";

export interface PreviewLimits {
  readonly nowMs: number;
  readonly maxAgeMs: number;
  readonly quotaBytes: number;
}

/** The time of this process's last sweep, by directory of previews. */
const sweptMs = new Map<string, number>();

/** Sweeps if the last sweep was long ago. Does not wait for the sweep. The next call repeats a failed sweep. */
export function sweepPreviewsIfDue(store: PreviewStore): void {
  const last = sweptMs.get(store.dir) ?? Number.NEGATIVE_INFINITY;
  if (monotonicMs() - last < PREVIEWS_SWEEP_INTERVAL_MS) return;
  sweptMs.set(store.dir, monotonicMs());
  const limits = { nowMs: wallMs(), maxAgeMs: PREVIEW_MAX_AGE_MS, quotaBytes: PREVIEWS_QUOTA_BYTES };
  sweepPreviews(store, limits).catch(() => sweptMs.delete(store.dir));
}

export async function sweepPreviews(store: PreviewStore, limits: PreviewLimits): Promise<void> {
  const { nowMs, maxAgeMs, quotaBytes } = limits;
  const kept: PreviewRecord[] = [];
  for (const record of store.list()) {
    const { status, statusAt, host, id } = record;
    const ageMs = nowMs - statusAt;
    if (status === "running") {
      if (!isSameProcess(host.pid, host.startTime)) store.sweep(record);
    } else if (status !== "pending" && status !== "committed") {
      if (ageMs > PREVIEW_FORGOTTEN_AFTER_MS) store.remove(id);
    } else if (ageMs > maxAgeMs) store.sweep(record);
    else kept.push(record);
  }
  const sizes = await Promise.all(kept.map(({ id }) => measured(store.dirOf(id), "--block-size=1")));
  let total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  for (const [index, record] of kept.entries()) {
    if (total <= quotaBytes) return;
    store.sweep(record);
    total -= sizes[index] ?? 0;
  }
}
