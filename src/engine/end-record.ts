// How a shell ended and why, in one file of fixed size. The file exists before the shell starts, and writers overwrite
// it in place. This works even on a full disk, where a new file or a rename would fail. Bytes 0-127 are the exit
// record, which the shim writes. Bytes 128-255 are the cause, which the process that ends the shell writes before the
// first signal.
import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { shortageOf } from "../support/system-error.ts";

const PART_BYTES = 128;
const PENDING = `${"P".padEnd(PART_BYTES - 2)}.\n`;
const NO_CAUSE = `${"-".padEnd(PART_BYTES - 2)}.\n`;

export interface ExitRecord {
  readonly code: number;
  /** Whether a logger ended because it reached the disk cap. */
  readonly capReached: boolean;
  /** Whether a logger could not write because no space was left. */
  readonly spoolFull: boolean;
  /** Whether a logger was killed, so that later output is missing. */
  readonly loggerLost: boolean;
  /** Whether it is uncertain that the loggers have written everything. */
  readonly unsure: boolean;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** The time from the boot to the end of the shell. */
  readonly endedUptimeMs: number;
}

/** "terminated": the shell got SIGTERM and may have handled it. */
export const CAUSE_KINDS = [
  "killed",
  "terminated",
  "timeout",
  "aborted",
  "host-ended",
  "never-started",
] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

export interface Cause {
  readonly kind: CauseKind;
  /** What ended the shell, as short text; for a timeout, its length in milliseconds. */
  readonly detail: string;
}

export interface EndRecord {
  /** "corrupt" never counts as success. */
  readonly exit: ExitRecord | "pending" | "corrupt";
  readonly cause: Cause | undefined;
}

export function preallocateEndRecord(path: string): void {
  writeFileSync(path, PENDING + NO_CAUSE, { flag: "wx", mode: 0o600 });
}

export function readEndRecord(path: string): EndRecord {
  let text: string;
  try {
    text = readFileSync(path, "latin1");
  } catch (error) {
    const shortage = shortageOf(error);
    if (shortage) throw shortage;
    return { exit: "corrupt", cause: undefined };
  }
  return {
    exit: parseExit(text.slice(0, PART_BYTES)),
    cause: parseCause(text.slice(PART_BYTES, 2 * PART_BYTES)),
  };
}

/** Writes the cause unless the record already has one: the first cause wins. Returns whether it wrote the cause. */
export function writeCause(path: string, cause: Cause): boolean {
  const fd = openSync(path, "r+");
  try {
    const current = Buffer.alloc(PART_BYTES);
    readSync(fd, current, 0, PART_BYTES, PART_BYTES);
    if (parseCause(current.toString("latin1"))) return false;
    const line = `C ${cause.kind} ${cause.detail.replace(/[^\x20-\x7e]/g, "?")}`.slice(0, PART_BYTES - 2);
    writeSync(fd, `${line.padEnd(PART_BYTES - 2)}.\n`, PART_BYTES, "latin1");
    return true;
  } finally {
    closeSync(fd);
  }
}

/** Parses an exit record, or the shim's report to the host. Returns undefined for any other text. */
export function parseExitFields(text: string): ExitRecord | undefined {
  const match = /^(\d{1,3}) (-|[cflu]+) (\d+) (\d+) (\d+\.\d\d)$/.exec(text);
  if (!match) return undefined;
  const [, code, flags = "", stdoutBytes, stderrBytes, uptime] = match;
  if (Number(code) > 255) return undefined;
  return {
    code: Number(code),
    capReached: flags.includes("c"),
    spoolFull: flags.includes("f"),
    loggerLost: flags.includes("l"),
    unsure: flags.includes("u"),
    stdoutBytes: Number(stdoutBytes),
    stderrBytes: Number(stderrBytes),
    endedUptimeMs: Math.round(Number(uptime) * 1000),
  };
}

function parseExit(part: string): ExitRecord | "pending" | "corrupt" {
  if (part === PENDING) return "pending";
  if (part.length !== PART_BYTES || !part.startsWith("X ") || !part.endsWith(".\n")) return "corrupt";
  return parseExitFields(part.slice(2, -2).replace(/ +$/, "")) ?? "corrupt";
}

function parseCause(part: string): Cause | undefined {
  const match = /^C ([a-z-]+) ?(.*?) *\.\n$/.exec(part);
  const kind = CAUSE_KINDS.find((known) => known === match?.[1]);
  return kind ? { kind, detail: match?.[2] ?? "" } : undefined;
}
