// What was asked for: written before a shell starts, read by every program that looks at the spool.
// The command text itself stands in its own file beside it.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { type Confinement, NETWORK_ACCESS, SANDBOX_PROFILES } from "./confinement.ts";
import { NEW_SUFFIX } from "./state-dir.ts";

export interface ShellMeta {
  readonly version: 1;
  readonly id: string;
  readonly workingDir: string;
  readonly scope: string;
  readonly session: string | null;
  /** No command: the bash that those of its session run in. */
  readonly isSessionBash?: true;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Time since boot at the start: durations must not depend on the wall clock. */
  readonly startedUptimeMs: number;
  /** Ends the shell this long after its start; null for never. */
  readonly deadlineMs: number | null;
  readonly durable: boolean;
  /** The process that started it. */
  readonly host: { readonly pid: number; readonly startTime: string };
  readonly streams: "split" | "merged";
  readonly capBytes: number;
  /** Where it is confined, or was to be. */
  readonly confinement?: Confinement;
  /** Where its output is in its directory, if not all of "out" and "err". */
  readonly output?: Readonly<Record<"stdout" | "stderr", { readonly file: string; readonly from: number }>>;
}

/** Durable shells must be found after a crash of the machine's power, too: theirs is synced. */
export function writeMeta(path: string, meta: ShellMeta): void {
  const text = `${JSON.stringify(meta)}\n`;
  const temporary = path + NEW_SUFFIX;
  if (meta.durable) {
    const fd = openSync(temporary, "w", 0o600);
    try {
      writeSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } else {
    writeFileSync(temporary, text, { mode: 0o600 });
  }
  // A reader sees all of it or nothing.
  renameSync(temporary, path);
}

/** undefined where there is none or it cannot be trusted. */
export function readMeta(path: string): ShellMeta | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isMeta(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMeta(value: unknown): value is ShellMeta {
  if (typeof value !== "object" || value === null) return false;
  const meta: Partial<Record<keyof ShellMeta, unknown>> = value;
  return (
    meta.version === 1 &&
    typeof meta.id === "string" &&
    typeof meta.workingDir === "string" &&
    typeof meta.scope === "string" &&
    (meta.session === null || typeof meta.session === "string") &&
    (meta.isSessionBash === undefined || meta.isSessionBash === true) &&
    Number.isFinite(meta.createdAt) &&
    Number.isFinite(meta.startedUptimeMs) &&
    (meta.deadlineMs === null || Number.isFinite(meta.deadlineMs)) &&
    typeof meta.durable === "boolean" &&
    isHost(meta.host) &&
    (meta.streams === "split" || meta.streams === "merged") &&
    Number.isFinite(meta.capBytes) &&
    (meta.confinement === undefined || isConfinement(meta.confinement)) &&
    (meta.output === undefined || isOutput(meta.output))
  );
}

function isConfinement(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { driver, profile, network, notEnforced }: Partial<Record<keyof Confinement, unknown>> = value;
  return (
    (driver === "bubblewrap" || driver === "none") &&
    SANDBOX_PROFILES.some((name) => name === profile) &&
    NETWORK_ACCESS.some((name) => name === network) &&
    Array.isArray(notEnforced) &&
    notEnforced.every((words) => typeof words === "string")
  );
}

function isOutput(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const output: { stdout?: unknown; stderr?: unknown } = value;
  return [output.stdout, output.stderr].every((part) => {
    if (typeof part !== "object" || part === null) return false;
    const { file, from }: { file?: unknown; from?: unknown } = part;
    // A name that comes from a file becomes a path.
    return (
      typeof file === "string" && /^[\w.]+$/.test(file) && !file.startsWith(".") && Number.isInteger(from)
    );
  });
}

function isHost(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const host: { pid?: unknown; startTime?: unknown } = value;
  return Number.isInteger(host.pid) && typeof host.startTime === "string";
}
