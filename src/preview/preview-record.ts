// Reads and writes the files of one preview: its record, its changes, and the state before the command. Every write
// replaces the whole file, so a crash leaves either the old file or the new one.
import { readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../engine/process-table.ts";
import { NEW_SUFFIX, PREVIEW_NAMES } from "../engine/state-dir.ts";
import type { Severity } from "../policy/verdict.ts";
import type { Planted } from "../sandbox/overlay.ts";
import { attempt } from "../support/attempt.ts";
import type { Change } from "./scan-changes.ts";

/**
 * "running": the command runs. "pending": its changes wait for a commit or discard. "swept": the preview was too old or
 * too large, or its host was killed; only the record is left.
 */
export type PreviewStatus = "running" | "pending" | "committed" | "discarded" | "undone" | "swept";

/** Why the policy asks about the command, as in an approval request. */
export interface PreviewAsk {
  readonly rule: string;
  readonly reason: string;
  readonly alternative?: string;
  readonly severity: Severity;
  readonly span: { readonly start: number; readonly end: number } | null;
}

export interface PreviewRecord {
  readonly version: 1;
  readonly id: string;
  readonly command: string;
  /** Absolute, without links. */
  readonly workspace: string;
  readonly cwd: string;
  readonly scope: string;
  readonly session: string | null;
  /** Why a commit needs an approval; null if the policy allows the command. */
  readonly ask: PreviewAsk | null;
  readonly host: ProcessIdentity;
  /** Wall clock time in ms. */
  readonly createdAt: number;
  readonly status: PreviewStatus;
  readonly statusAt: number;
  readonly exitCode: number | null;
  readonly notCaptured: readonly string[];
  /** Number of commits that were begun. */
  readonly commits: number;
}

export function readPreview(dir: string): PreviewRecord | undefined {
  return readStored(join(dir, PREVIEW_NAMES.record)) as PreviewRecord | undefined;
}

export function writePreview(dir: string, record: PreviewRecord): void {
  writeStored(join(dir, PREVIEW_NAMES.record), record);
}

export function readChanges(dir: string): readonly Change[] {
  return (readStored(join(dir, PREVIEW_NAMES.changes)) as readonly Change[] | undefined) ?? [];
}

export function writeChanges(dir: string, changes: readonly Change[]): void {
  writeStored(join(dir, PREVIEW_NAMES.changes), changes);
}

/** Returns undefined before the start of the command. */
export function readPlanted(dir: string): Planted | undefined {
  return readStored(join(dir, PREVIEW_NAMES.planted)) as Planted | undefined;
}

/** Paths and inode numbers of the files that had several names in the workspace before the command started. */
export function readLinked(dir: string): readonly (readonly [string, string])[] {
  return (readStored(join(dir, PREVIEW_NAMES.linked)) as [string, string][] | undefined) ?? [];
}

export function writeLinked(dir: string, linked: readonly (readonly [string, string])[]): void {
  writeStored(join(dir, PREVIEW_NAMES.linked), linked);
}

export function readStored(path: string): unknown {
  return attempt(() => JSON.parse(readFileSync(path, "utf8")) as unknown);
}

export function writeStored(path: string, value: unknown): void {
  const temporary = `${path}${NEW_SUFFIX}`;
  try {
    writeFileSync(temporary, JSON.stringify(value), { mode: 0o600, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    // Remove the partial file, because it would take up space on a full disk.
    attempt(() => unlinkSync(temporary));
    throw error;
  }
}
