// Which shells on disk may go: finished ones by age, then the oldest until all fit the quota.
// Never one that may be alive. Deciding is pure; gathering and removing stand below it.
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SPOOL_UNSEEN_MAX_MS } from "../support/limits.ts";
import { readEndRecord } from "./end-record.ts";
import { readIdentity, type ShellIdentity } from "./identity.ts";
import type { SpoolRoot } from "./layout.ts";
import { readMeta } from "./meta.ts";

export interface SweepEntry {
  readonly id: string;
  readonly finished: boolean;
  /** When it ended, or was last touched. */
  readonly endedAt: number;
  readonly bytes: number;
}

/** Unknown is what runs, if it does, where nobody here can see it: in another pid namespace. */
export type Presence = "alive" | "gone" | "unknown";

export interface SweepLimits {
  readonly nowMs: number;
  readonly maxAgeMs: number;
  readonly quotaBytes: number;
}

export function chooseToSweep(entries: readonly SweepEntry[], limits: SweepLimits): string[] {
  const finished = entries.filter((entry) => entry.finished).sort((a, b) => a.endedAt - b.endedAt);
  let total = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const chosen: string[] = [];
  for (const entry of finished) {
    const old = limits.nowMs - entry.endedAt > limits.maxAgeMs;
    if (!old && total <= limits.quotaBytes) continue;
    chosen.push(entry.id);
    total -= entry.bytes;
  }
  return chosen;
}

/**
 * Removes what may go and returns its ids. `presence` tells whether a shim is still there.
 * Between shells others get to run: there may be thousands.
 */
export async function sweep(
  root: SpoolRoot,
  limits: SweepLimits,
  presence: (identity: ShellIdentity) => Presence,
): Promise<string[]> {
  const entries: SweepEntry[] = [];
  for (const id of root.list()) {
    const entry = entryOf(root, id, limits.nowMs, presence);
    if (entry) entries.push(entry);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const chosen = chooseToSweep(entries, limits);
  for (const id of chosen) {
    removeShell(root, id);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return chosen;
}

export function removeShell(root: SpoolRoot, id: string): void {
  rmSync(root.files(id).dir, { recursive: true, force: true });
}

function entryOf(
  root: SpoolRoot,
  id: string,
  nowMs: number,
  presence: (identity: ShellIdentity) => Presence,
): SweepEntry | undefined {
  const files = root.files(id);
  const touched = lastTouch(files.dir);
  if (!touched) return undefined;
  const identity = readIdentity(files.identity);
  const there = identity ? presence(identity) : "unknown";
  const unsureMs = identity ? SPOOL_UNSEEN_MAX_MS : FRESH_MS;
  const running = there === "unknown" ? nowMs - touched.at < unsureMs : there === "alive";
  const { exit } = readEndRecord(files.record);
  // A slot without a job that nobody waits in is nobody's: it goes with the oldest.
  const abandoned = !running && readMeta(files.meta) === undefined;
  return {
    id,
    finished: typeof exit === "object" || !running,
    endedAt: abandoned ? 0 : touched.at,
    bytes: touched.bytes,
  };
}

/** A directory that has no identity yet may be about to get one. */
const FRESH_MS = 60_000;

function lastTouch(dir: string): { at: number; bytes: number } | undefined {
  try {
    let at = 0;
    let bytes = 0;
    for (const name of readdirSync(dir)) {
      const stat = lstatSync(join(dir, name));
      at = Math.max(at, stat.mtimeMs);
      bytes += stat.blocks * 512;
    }
    return { at: at || lstatSync(dir).mtimeMs, bytes };
  } catch {
    return undefined;
  }
}
