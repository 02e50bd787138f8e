// A reader's position in one output file, in bytes. Each reader moves only its own cursor; the file grows independently
// of readers.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { READ_CHUNK_BYTES } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

/** The size of the file now; 0 if it does not exist. */
export function sizeOf(path: string): number {
  return withFile(path, (fd) => fstatSync(fd).size) ?? 0;
}

/** The bytes [from, to), or fewer if the file ends before `to`. */
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
  /** The number of bytes that were lost when the position was last corrected. */
  #lost = 0;

  /** `written`: how many bytes were ever written to the file, if known. */
  constructor(path: string, position = 0, written: () => number | undefined = () => undefined) {
    this.#path = path;
    this.#position = position;
    this.#written = written;
  }

  get position(): number {
    return this.#position;
  }

  /**
   * If a process has truncated the file, corrects the position: output after the truncation must count as new. Call
   * this before using the position. Returns the position.
   */
  settle(): number {
    // Read the count before the size. Bytes written between the two reads are then in the file but not in the count,
    // so they do not look lost.
    const written = this.#written();
    // Keep the position of a removed file: nacre can restore the file with all its content.
    const size = withFile(this.#path, (fd) => fstatSync(fd).size);
    if (size === undefined) return this.#position;
    // The size alone does not show a truncation: the file may have grown beyond the position again.
    const lost = Math.max(this.#lost, (written ?? 0) - size);
    if (size >= this.#position && lost === this.#lost) return this.#position;
    this.#position = size < this.#position ? 0 : Math.max(0, this.#position - (lost - this.#lost));
    this.#lost = lost;
    this.#isNewlyTruncated = true;
    this.#wasTruncated = true;
    return this.#position;
  }

  /** Whether settle() has ever found the file truncated. */
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
   * Reads up to maxBytes of new output and keeps the position. The result is valid until the next peek of any cursor, because
   * all cursors share one buffer. A new buffer per read would leave gigabytes to the garbage collector. A caller that
   * awaits before it has used the result must pass its own buffer.
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

/** Returns the number of bytes read. */
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
    // The state directory was removed, replaced or made unreadable.
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
