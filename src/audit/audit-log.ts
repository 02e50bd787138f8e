// An append-only log of events, one JSON object per line. Each record contains the hash of its writer's previous
// record. With these hashes, verify-audit.ts detects a changed, removed or inserted record, and reports its line
// number.
//
// Several processes can write to one file. Each process is a writer with its own chain of records. The first record of
// a chain contains the hash of the last line that its writer found in the file. One system call writes a whole line, so
// the lines of two processes never interleave.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import type { NacreEvent } from "../support/events.ts";
import { AUDIT_TAIL_BYTES } from "../support/limits.ts";
import { fsPath, shownPath, wirePath } from "../support/path-text.ts";

export interface AuditRecord {
  /** The process that wrote the record. */
  readonly writer: string;
  /** The number of the record in its writer's chain, starting at 0. */
  readonly seq: number;
  /** The hash of the writer's previous record. In the first record: the hash of the last line in the file, or "". */
  readonly prev: string;
  readonly event: unknown;
  /** SHA-256 of the record's JSON without this field. */
  readonly hash: string;
}

/** An event that does not come from a toolkit: its kind, its time, and any other fields. */
export interface AuditedEvent {
  readonly type: string;
  readonly at: number;
}

export class AuditLog {
  readonly #path: string;
  readonly #fd: number;
  readonly #writer = `${process.pid}-${randomBytes(4).toString("hex")}`;
  #seq = 0;
  #prev: string;
  #hasWarned = false;
  #isLastLinePartial = false;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#fd = openSync(fsPath(path), "a+", 0o600);
      const last = lastLineOf(this.#fd);
      // A crash can leave a partial line. End that line: the next record needs a line of its own.
      if (last.isPartial) writeSync(this.#fd, "\n");
      this.#prev = last.text === "" ? "" : hashIn(last.text);
    } catch (error) {
      throw new NacreError(
        "invalid_input",
        `The audit log ${shownPath(path)} cannot be opened: ${messageOf(error)}. Use a writable file, or no audit log.`,
        { cause: error },
      );
    }
  }

  /** Appends the event. When this returns, the kernel has the line, and a crash of this process cannot lose it. */
  write(event: NacreEvent | AuditedEvent): void {
    const record = { writer: this.#writer, seq: this.#seq, prev: this.#prev, event: asJson(event) };
    const hash = hashOf(record);
    try {
      this.#append(`${lineOf({ ...record, hash })}\n`);
    } catch (error) {
      this.#warn(error);
      return;
    }
    this.#seq++;
    this.#prev = hash;
  }

  /** Throws if a full disk truncates the line. The next record then starts on a new line. */
  #append(line: string): void {
    const bytes = Buffer.from(this.#isLastLinePartial ? `\n${line}` : line);
    const written = writeSync(this.#fd, bytes);
    this.#isLastLinePartial = written < bytes.length;
    if (this.#isLastLinePartial) throw new Error("the disk is full");
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

/** The `hash` field of the record in the line. If the line is not a record: the hash of the line itself. */
export function hashIn(line: string): string {
  const hash = attempt(() => (JSON.parse(line) as Partial<AuditRecord>).hash);
  return typeof hash === "string" ? hash : createHash("sha256").update(line).digest("hex");
}

/** The event as JSON data. If JSON cannot represent the event: its type and time, and the error message. */
function asJson(event: AuditedEvent): unknown {
  try {
    return JSON.parse(
      JSON.stringify(event, (key, value) => (key === "workingDir" ? wirePath(String(value)) : value)),
    );
  } catch (error) {
    return { type: event.type, at: event.at, unwritable: messageOf(error) };
  }
}

/**
 * The line of a record. Escapes U+2028 and U+2029: JSON allows them in strings, but node:readline would split the record
 * at them.
 */
export function lineOf({ writer, seq, prev, event, hash }: AuditRecord): string {
  const json = JSON.stringify({ writer, seq, prev, event, hash });
  return json.replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** Reads from the end in growing pieces, because both the file and its last line can be large. */
function lastLineOf(fd: number): { readonly text: string; readonly isPartial: boolean } {
  const { size } = fstatSync(fd);
  for (let length = AUDIT_TAIL_BYTES; ; length *= 4) {
    const from = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - from);
    readSync(fd, bytes, 0, bytes.length, from);
    const whole = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
    const start = whole.lastIndexOf(NEWLINE);
    if (start < 0 && from > 0) continue;
    return { text: whole.toString("utf8", start + 1), isPartial: size > 0 && bytes.at(-1) !== NEWLINE };
  }
}

const NEWLINE = 0x0a;
