// An append-only record of events, one JSON object per line, each bound to the one before it by its hash: a line
// that is changed, removed or put in breaks the chain, and verify-audit.ts says where.
//
// Several processes may write to one file. Each keeps a chain of its own, under a name of its own, that begins at
// the last line it found; whole lines are appended at once, so they mix but do not tear.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { messageOf, NacreError } from "../support/errors.ts";
import type { NacreEvent } from "../support/events.ts";
import { AUDIT_TAIL_BYTES } from "../support/limits.ts";
import { fsPath, shownPath, wirePath } from "../support/path-text.ts";

export interface AuditRecord {
  /** Which process wrote it. */
  readonly writer: string;
  /** Counts that writer's records from 0. */
  readonly seq: number;
  /** The hash of that writer's last record; of the last line in the file for its first; "" in an empty file. */
  readonly prev: string;
  readonly event: unknown;
  /** SHA-256 over the line without this field. */
  readonly hash: string;
}

export class AuditLog {
  readonly #path: string;
  readonly #fd: number;
  readonly #writer = `${process.pid}-${randomBytes(4).toString("hex")}`;
  #seq = 0;
  #prev: string;
  #warned = false;
  #torn = false;

  constructor(path: string) {
    this.#path = path;
    try {
      this.#fd = openSync(fsPath(path), "a+", 0o600);
      const last = lastLineOf(this.#fd);
      // What a crash has cut short ends here; the next line is whole again.
      if (last.cut) writeSync(this.#fd, "\n");
      this.#prev = last.text === "" ? "" : hashIn(last.text);
    } catch (error) {
      throw new NacreError(
        "invalid_input",
        `The audit log ${shownPath(path)} cannot be opened: ${messageOf(error)}. Choose a file that can be written, or leave auditFile out.`,
        { cause: error },
      );
    }
  }

  /** On disk when this returns, as far as the kernel is concerned: a crash of this process does not lose it. */
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

  /** On a full disk a part of a line may get there; what comes later begins on a line of its own. */
  #append(line: string): void {
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line);
    const written = writeSync(this.#fd, bytes);
    this.#torn = written < bytes.length;
    if (this.#torn) throw new Error("the disk is full");
  }

  close(): void {
    closeSync(this.#fd);
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    process.emitWarning(
      `nacre cannot write to the audit log ${shownPath(this.#path)}: ${messageOf(error)}. What happens now is not recorded.`,
    );
  }
}

export function hashOf({ writer, seq, prev, event }: Omit<AuditRecord, "hash">): string {
  return createHash("sha256").update(JSON.stringify({ writer, seq, prev, event })).digest("hex");
}

/** Of a line that is no record, its own: whatever it is, it must not be changed afterwards. */
export function hashIn(line: string): string {
  try {
    const { hash } = JSON.parse(line) as Partial<AuditRecord>;
    if (typeof hash === "string") return hash;
  } catch {
    // Not ours.
  }
  return createHash("sha256").update(line).digest("hex");
}

/** Some arguments of a call are no JSON: then the words for that stand in their place. */
function asJson(event: NacreEvent): unknown {
  try {
    return JSON.parse(
      JSON.stringify(event, (key, value) => (key === "workingDir" ? wirePath(String(value)) : value)),
    );
  } catch (error) {
    return { type: event.type, at: event.at, unwritable: messageOf(error) };
  }
}

/** Line separators that JSON lets stand, but readers of lines do not. */
function oneLine(json: string): string {
  return json.replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** Looked for from the end, in pieces that grow: the file may be large, the line too. */
function lastLineOf(fd: number): { readonly text: string; readonly cut: boolean } {
  const { size } = fstatSync(fd);
  for (let length = AUDIT_TAIL_BYTES; ; length *= 4) {
    const from = Math.max(0, size - length);
    const bytes = Buffer.alloc(size - from);
    readSync(fd, bytes, 0, bytes.length, from);
    const whole = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
    const start = whole.lastIndexOf(NEWLINE);
    if (start < 0 && from > 0) continue;
    return { text: whole.toString("utf8", start + 1), cut: size > 0 && bytes.at(-1) !== NEWLINE };
  }
}

const NEWLINE = 0x0a;
