// A reader's place in one output file, in bytes. Readers only move their own cursor; the file
// grows whether anybody reads or not.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { READ_CHUNK_BYTES } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

/** How much there is to read now; 0 for a file that is not there. */
export function sizeOf(path: string): number {
  return withFile(path, (fd) => fstatSync(fd).size) ?? 0;
}

/** The bytes of [from, to), fewer where the file ends before. */
export function readRange(path: string, from: number, to: number): Buffer {
  if (to <= from) return Buffer.alloc(0);
  const bytes = withFile(path, (fd) => {
    const end = Math.min(to, fstatSync(fd).size);
    const buffer = Buffer.allocUnsafe(Math.max(0, end - from));
    return buffer.subarray(0, fill(fd, buffer, from));
  });
  return bytes ?? Buffer.alloc(0);
}

export class Cursor {
  readonly #path: string;
  #position: number;
  readonly #written: () => number | undefined;
  #isNewlyTruncated = false;
  #wasTruncated = false;
  /** Bytes that were cut off before the position was last right. */
  #lost = 0;

  /** `written`: how many bytes were ever written to the file, where that is known. */
  constructor(path: string, position = 0, written: () => number | undefined = () => undefined) {
    this.#path = path;
    this.#position = position;
    this.#written = written;
  }

  get position(): number {
    return this.#position;
  }

  /**
   * A command can truncate the file its output goes to. What is in it then is new, from its beginning. Call before
   * using the position; returns it.
   */
  settle(): number {
    // Asked first: what is written in between is in the file, and not counted.
    const written = this.#written();
    // A file that was removed may come back with all that was in it.
    const size = withFile(this.#path, (fd) => fstatSync(fd).size);
    if (size === undefined) return this.#position;
    // It may have grown again since, beyond the position.
    const lost = Math.max(this.#lost, (written ?? 0) - size);
    if (size >= this.#position && lost === this.#lost) return this.#position;
    this.#position = size < this.#position ? 0 : Math.max(0, this.#position - (lost - this.#lost));
    this.#lost = lost;
    this.#isNewlyTruncated = true;
    this.#wasTruncated = true;
    return this.#position;
  }

  /** Whether the file was ever found truncated. */
  get wasTruncated(): boolean {
    return this.#wasTruncated;
  }

  /** Whether the file was truncated since the last call. */
  takeTruncation(): boolean {
    const was = this.#isNewlyTruncated;
    this.#isNewlyTruncated = false;
    return was;
  }

  /**
   * Looks at up to maxBytes of what is new, without moving: reading through gigabytes must not leave gigabytes to the
   * garbage collector. What it returns holds until the next look of any cursor; whoever waits before it is used up
   * brings a buffer.
   */
  peek(maxBytes: number, into = sharedOf(maxBytes)): Buffer {
    const length = withFile(this.#path, (fd) => fill(fd, into.subarray(0, maxBytes), this.#position));
    return into.subarray(0, length ?? 0);
  }

  /** Marks bytes as read. */
  advance(bytes: number): void {
    this.#position += bytes;
  }
}

let shared = Buffer.allocUnsafeSlow(READ_CHUNK_BYTES);

function sharedOf(bytes: number): Buffer {
  if (bytes > shared.length) shared = Buffer.allocUnsafeSlow(bytes);
  return shared;
}

/** How many bytes there were. */
function fill(fd: number, buffer: Buffer, from: number): number {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, from + length);
    if (count === 0) break;
    length += count;
  }
  return length;
}

function withFile<T>(path: string, use: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    // Removed, replaced or locked together with the state directory.
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
