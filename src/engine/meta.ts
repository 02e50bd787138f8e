// The request that a shell was started with. The host writes it before the start, and every program that finds the
// shell reads it. The command text is in a separate file.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { uptime } from "node:os";
import { wallMs } from "../support/clock.ts";
import { defined } from "../support/defined.ts";
import {
  SHELL_LABEL_MAX_CHARS,
  TERMINAL_SIDE_MAX_COUNT,
  TERMINAL_SIDE_MIN_COUNT,
} from "../support/limits.ts";
import { type Confinement, NETWORK_ACCESS, SANDBOX_PROFILES } from "./confinement.ts";
import { thisProcess } from "./process-table.ts";
import { NEW_SUFFIX } from "./state-dir.ts";

export interface TerminalSize {
  readonly rows: number;
  readonly cols: number;
}

/** Labels of a shell, for the people who watch it. A label can be any text. */
export interface ShellLabel {
  /** A name by which people can find it. */
  readonly name?: string;
  /** What the command does, in the words of the agent. */
  readonly description?: string;
  /** The agent that started it. */
  readonly agent?: string;
}

export const SHELL_ROLES = ["session", "worker"] as const;
export type ShellRole = (typeof SHELL_ROLES)[number];

export interface ShellMeta extends ShellLabel {
  readonly version: 1;
  readonly id: string;
  readonly workingDir: string;
  readonly scope: string;
  readonly session: string | null;
  /** Set if the shell is not a command: the bash of a session, or a worker of the file tools. */
  readonly role?: ShellRole;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Time since boot at the start: durations must not depend on the wall clock. */
  readonly startedUptimeMs: number;
  /** Ends the shell this long after its start; null for never. */
  readonly deadlineMs: number | null;
  readonly durable: boolean;
  /** The process that started the shell. */
  readonly host: { readonly pid: number; readonly startTime: string };
  readonly streams: "split" | "merged";
  readonly capBytes: number;
  /** Set only if a sandbox or a limit was requested. */
  readonly confinement?: Confinement;
  /** The initial size of the shell's terminal, if it has one. */
  readonly terminal?: TerminalSize;
  /** The location of the output, if it is only a part of `out` and `err`. */
  readonly output?: Readonly<
    Record<"stdout" | "stderr", { readonly file: string; readonly from: number; readonly to?: number }>
  >;
}

/** The meta of a shell that nacre starts for its own use and that ends with this host. */
export function ownMeta(
  parts: Pick<ShellMeta, "id" | "workingDir" | "scope" | "session" | "capBytes"> & {
    readonly role: ShellRole;
  },
): ShellMeta {
  return {
    ...parts,
    version: 1,
    createdAt: wallMs(),
    startedUptimeMs: Math.round(uptime() * 1000),
    deadlineMs: null,
    durable: false,
    host: thisProcess(),
    streams: "split",
  };
}

/** Only the label fields of the options. Cuts description and agent to SHELL_LABEL_MAX_CHARS. */
export function labelOf({ name, description, agent }: ShellLabel): ShellLabel {
  const cut = (text: string | undefined) => (text ? text.slice(0, SHELL_LABEL_MAX_CHARS) : undefined);
  return defined({ name, description: cut(description), agent: cut(agent) });
}

/** Syncs the file for a durable shell, which nacre must find even after a power failure. */
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
  // Atomic: a reader sees the whole file or none.
  renameSync(temporary, path);
}

/** undefined if it is missing or malformed. */
export function readMeta(path: string): ShellMeta | undefined {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as { isSessionBash?: unknown } | null;
    // Builds before 0.2 wrote isSessionBash instead of a role.
    const meta: unknown = value?.isSessionBash === true ? { ...value, role: "session" } : value;
    return isMeta(meta) ? meta : undefined;
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
    [meta.name, meta.description, meta.agent].every(
      (text) => text === undefined || typeof text === "string",
    ) &&
    (meta.role === undefined || SHELL_ROLES.some((role) => role === meta.role)) &&
    Number.isFinite(meta.createdAt) &&
    Number.isFinite(meta.startedUptimeMs) &&
    (meta.deadlineMs === null || Number.isFinite(meta.deadlineMs)) &&
    typeof meta.durable === "boolean" &&
    isHost(meta.host) &&
    (meta.streams === "split" || meta.streams === "merged") &&
    Number.isFinite(meta.capBytes) &&
    (meta.confinement === undefined || isConfinement(meta.confinement)) &&
    (meta.terminal === undefined || isTerminalSize(meta.terminal)) &&
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
    notEnforced.every((text) => typeof text === "string")
  );
}

export function isTerminalSize(value: unknown): value is TerminalSize {
  if (typeof value !== "object" || value === null) return false;
  const { rows, cols }: { rows?: unknown; cols?: unknown } = value;
  return [rows, cols].every(
    (side) =>
      Number.isInteger(side) &&
      Number(side) >= TERMINAL_SIDE_MIN_COUNT &&
      Number(side) <= TERMINAL_SIDE_MAX_COUNT,
  );
}

function isOutput(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const output: { stdout?: unknown; stderr?: unknown } = value;
  return [output.stdout, output.stderr].every((part) => {
    if (typeof part !== "object" || part === null) return false;
    const { file, from, to }: { file?: unknown; from?: unknown; to?: unknown } = part;
    // Check the name: it comes from a file and becomes part of a path.
    return (
      typeof file === "string" &&
      /^[\w.]+$/.test(file) &&
      !file.startsWith(".") &&
      Number.isInteger(from) &&
      (to === undefined || Number.isInteger(to))
    );
  });
}

function isHost(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const host: { pid?: unknown; startTime?: unknown } = value;
  return Number.isInteger(host.pid) && typeof host.startTime === "string";
}
