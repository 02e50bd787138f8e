// An append-only log of events, one JSON object per line. Each line contains the hash of the previous one: a changed,
// removed or inserted line breaks the chain, and verify-audit.ts reports its number.
//
// Several processes can write to one file. Each has its own name and its own chain, which starts at the last line that it
// found. A line is written in one call, so the lines of two processes mix but do not interleave.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import type { NacreEvent } from "../support/events.ts";
import { AUDIT_TAIL_BYTES } from "../support/limits.ts";
import { fsPath, shownPath, wirePath } from "../support/path-text.ts";

export interface AuditRecord {
  /** The process that wrote it. */
  readonly writer: string;
  /** The number of the record among those of its writer, from 0. */
  readonly seq: number;
  /** The hash of its writer's previous record. For the first one: the hash of the last line in the file, or "". */
  readonly prev: string;
  readonly event: unknown;
  /** SHA-256 of the line without this field. */
  readonly hash: string;
}

export class AuditLog {
  readonly #path: string;
  readonly #fd: number;
  readonly #writer = `${process.pid}-${randomBytes(4).toString("hex")}`;
  #seq = 0;
  #prev: string;
  #hasWarned = false;
  #isTorn = false;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#fd = openSync(fsPath(path), "a+", 0o600);
      const last = lastLineOf(this.#fd);
      // A crash can leave a partial line. End it, so that the next record is on its own line.
      if (last.isCut) writeSync(this.#fd, "\n");
      this.#prev = last.text === "" ? "" : hashIn(last.text);
    } catch (error) {
      throw new NacreError(
        "invalid_input",
        `The audit log ${shownPath(path)} cannot be opened: ${messageOf(error)}. Use a writable file, or leave auditFile out.`,
        { cause: error },
      );
    }
  }

  /** Written to the kernel when this returns: a crash of this process does not lose it. */
  write(event: NacreEvent): void {
    const record = { writer: this.#writer, seq: this.#seq, prev: this.#prev, event: asJson(event) };
    const hash = hashOf(record);
    try {
      this.#append(`${oneLine(JSON.stringify({ ...record, hash }))}\n`);
    } catch (error) {
      this.#warn(error);
      return;
    }
    this.#seq++;
    this.#prev = hash;
  }

  /** A full disk can cut a line. The next record then starts on its own line. */
  #append(line: string): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${line}` : line);
    const written = writeSync(this.#fd, bytes);
    this.#isTorn = written < bytes.length;
    if (this.#isTorn) throw new Error("the disk is full");
  }

  close(): void {
    closeSync(this.#fd);
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      `nacre cannot write to the audit log ${shownPath(this.#path)}: ${messageOf(error)}. Events are not recorded until this is fixed.`,
    );
  }
}

export function hashOf({ writer, seq, prev, event }: Omit<AuditRecord, "hash">): string {
  return createHash("sha256").update(JSON.stringify({ writer, seq, prev, event })).digest("hex");
}

/** The hash in a record; the hash of the line itself if it is not a record. Either way the line must not change later. */
export function hashIn(line: string): string {
  const hash = attempt(() => (JSON.parse(line) as Partial<AuditRecord>).hash);
  return typeof hash === "string" ? hash : createHash("sha256").update(line).digest("hex");
}

/** Replaces an event that JSON cannot represent by the error message. */
function asJson(event: NacreEvent): unknown {
  try {
    return JSON.parse(
      JSON.stringify(event, (key, value) => (key === "workingDir" ? wirePath(String(value)) : value)),
    );
  } catch (error) {
    return { type: event.type, at: event.at, unwritable: messageOf(error) };
  }
}

/** Escapes line separators that JSON allows but that readers of lines split at. */
function oneLine(json: string): string {
  return json.replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** Searches from the end, in growing pieces: both the file and the line can be large. */
function lastLineOf(fd: number): { readonly text: string; readonly isCut: boolean } {
  const { size } = fstatSync(fd);
  for (let length = AUDIT_TAIL_BYTES; ; length *= 4) {
    const from = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - from);
    readSync(fd, bytes, 0, bytes.length, from);
    const whole = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
    const start = whole.lastIndexOf(NEWLINE);
    if (start < 0 && from > 0) continue;
    return { text: whole.toString("utf8", start + 1), isCut: size > 0 && bytes.at(-1) !== NEWLINE };
  }
}

const NEWLINE = 0x0a;
