// Removes finished shells from disk: first those above the maximum age, then the oldest ones until the rest fits into
// the quota. Never removes a shell that may be alive. chooseToSweep is pure; sweep reads and removes.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SPOOL_FRESH_MS, SPOOL_UNSEEN_MAX_MS } from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import { type EndRecord, readEndRecord } from "./end-record.ts";
import { readIdentity, type ShellIdentity } from "./identity.ts";
import { readMeta, type ShellMeta } from "./meta.ts";
import { removeShellDir } from "./shell-dir.ts";
import type { StateRoot } from "./state-dir.ts";
import { recordSwept } from "./swept-ids.ts";

export interface SweepEntry {
  readonly id: string;
  readonly finished: boolean;
  /** When it ended, or was last modified, by the current wall clock. */
  readonly endedAt: number;
  readonly bytes: number;
  /** Whether this is a slot that never got a job. */
  readonly isSlot?: boolean;
}

/** "unknown": the shell may run in another PID namespace, which this process cannot see. */
export type Presence = "alive" | "gone" | "unknown";

export interface SweepLimits {
  /** Wall-clock time. */
  readonly nowMs: number;
  readonly maxAgeMs: number;
  readonly quotaBytes: number;
}

/** The time since boot, and the id of that boot. Unlike the wall clock, this clock cannot be set. */
export interface BootClock {
  readonly bootId: string;
  readonly uptimeMs: number;
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

/** Returns the ids of the removed shells. Yields between shells: there can be thousands. */
export async function sweep(
  root: StateRoot,
  limits: SweepLimits,
  presence: (identity: ShellIdentity) => Presence,
  boot?: BootClock,
): Promise<string[]> {
  const entries: SweepEntry[] = [];
  for (const id of root.list()) {
    const entry = entryOf(root, id, { nowMs: limits.nowMs, boot }, presence);
    if (entry) entries.push(entry);
    await yieldTurn();
  }
  const chosen = chooseToSweep(entries, limits);
  // Do not record the id of a slot that never got a job, because no caller knows it.
  const slots = new Set(entries.filter(({ isSlot }) => isSlot).map(({ id }) => id));
  for (const id of chosen) {
    removeShell(root, id, !slots.has(id));
    await yieldTurn();
  }
  return chosen;
}

/** `asSwept`: record the id, so that later processes report the shell as removed. */
export function removeShell(root: StateRoot, id: string, asSwept = false): void {
  if (asSwept) recordSwept(root, [id]);
  removeShellDir(root, root.files(id).dir);
}

interface Clocks {
  readonly nowMs: number;
  readonly boot: BootClock | undefined;
}

function entryOf(
  root: StateRoot,
  id: string,
  clocks: Clocks,
  presence: (identity: ShellIdentity) => Presence,
): SweepEntry | undefined {
  const files = root.files(id);
  const touched = lastTouch(files.dir);
  if (!touched) return undefined;
  const identity = readIdentity(files.identity);
  const meta = readMeta(files.meta);
  const { exit } = readEndRecord(files.record);
  const ageMs = ageOf({ identity, meta, exit, touchedAt: touched.at }, clocks);
  const there = identity ? presence(identity) : "unknown";
  const unsureMs = identity ? SPOOL_UNSEEN_MAX_MS : SPOOL_FRESH_MS;
  const running = there === "unknown" ? ageMs < unsureMs : there === "alive";
  // A slot without a job and without a process has no owner: treat it as the oldest.
  const abandoned = !running && meta === undefined;
  return {
    id,
    finished: typeof exit === "object" || !running,
    endedAt: abandoned ? 0 : clocks.nowMs - ageMs,
    bytes: touched.bytes,
    isSlot: meta === undefined,
  };
}

interface Traces {
  readonly identity: ShellIdentity | undefined;
  readonly meta: ShellMeta | undefined;
  readonly exit: EndRecord["exit"];
  /** The time of the last change, by the wall clock of that moment. */
  readonly touchedAt: number;
}

/** How long ago the shell ended or, if that is unknown, how long ago its directory was last modified. */
function ageOf({ identity, meta, exit, touchedAt }: Traces, { nowMs, boot }: Clocks): number {
  const byClockMs = nowMs - touchedAt;
  if (!identity || !boot) return byClockMs;
  // The shell ended before this boot. Do not count the time before the boot, because the wall clock may have been wrong
  // then.
  if (identity.bootId !== boot.bootId) return boot.uptimeMs;
  if (typeof exit === "object") return Math.max(0, boot.uptimeMs - exit.endedUptimeMs);
  if (!meta) return byClockMs;
  // Without a record, the last modification is the best estimate. It is never earlier than the start. If the wall clock
  // was set since then, the modification time may come from the old clock or from the new one.
  const sinceStartMs = Math.max(0, boot.uptimeMs - meta.startedUptimeMs);
  const byClockOfStartMs = sinceStartMs - (touchedAt - meta.createdAt);
  const possible = [byClockMs, byClockOfStartMs].filter((ms) => ms >= 0 && ms <= sinceStartMs);
  return Math.min(sinceStartMs, ...possible);
}

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
