// Reads the headers of a POSIX tar archive (pax) from a stream, in the form that GNU tar writes. Skips the content of
// files, so an archive of any size needs little memory.
import { TAR_BLOCK_BYTES, TAR_HEADER_MAX_BYTES } from "../support/limits.ts";

/** The extended records of one entry. Each value is bytes, decoded as latin1. */
export type PaxRecords = ReadonlyMap<string, string>;

const SIZE_FIELD = { from: 124, to: 136 };
const TYPE_AT = 156;

export class PaxReader {
  /** The records of each entry, in the order of the archive. */
  readonly entries: PaxRecords[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  #skip = 0;
  #records: PaxRecords = new Map();

  push(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const skipped = Math.min(this.#skip, this.#buffer.length);
      this.#skip -= skipped;
      this.#buffer = this.#buffer.subarray(skipped);
      if (this.#skip > 0 || !this.#readHeader()) return;
    }
  }

  /** Returns false if more bytes are needed. */
  #readHeader(): boolean {
    if (this.#buffer.length < TAR_BLOCK_BYTES) return false;
    const header = this.#buffer.subarray(0, TAR_BLOCK_BYTES);
    // The end of the archive is a block of zeros.
    if (header[0] === 0) {
      this.#skip = Number.POSITIVE_INFINITY;
      return true;
    }
    const size = this.#sizeIn(header);
    const padded = Math.ceil(size / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES;
    const type = String.fromCharCode(header[TYPE_AT] ?? 0);
    if (type !== "x") {
      if (type !== "g" && type !== "L" && type !== "K") this.#finishEntry();
      this.#skip = TAR_BLOCK_BYTES + (this.#hasContent(type) ? padded : 0);
      return true;
    }
    if (size > TAR_HEADER_MAX_BYTES) throw new RangeError(`The header of a tar entry has ${size} bytes.`);
    if (this.#buffer.length < TAR_BLOCK_BYTES + padded) return false;
    this.#records = recordsIn(this.#buffer.subarray(TAR_BLOCK_BYTES, TAR_BLOCK_BYTES + size));
    this.#skip = TAR_BLOCK_BYTES + padded;
    return true;
  }

  /**
   * The size field has octal digits. A size of 8 GiB or more does not fit into the field and is in the extended records
   * instead.
   */
  #sizeIn(header: Buffer): number {
    const large = this.#records.get("size");
    if (large !== undefined) return Number(large);
    const field = header.subarray(SIZE_FIELD.from, SIZE_FIELD.to);
    return Number.parseInt(field.toString("latin1"), 8) || 0;
  }

  #finishEntry(): void {
    this.entries.push(this.#records);
    this.#records = new Map();
  }

  /** Links, devices, directories and fifos have no content, even if their header has a size. */
  #hasContent(type: string): boolean {
    return !["1", "2", "3", "4", "5", "6"].includes(type);
  }
}

/** Records are `LENGTH KEY=VALUE\n`. LENGTH is the length of the whole record, so a value can contain any byte. */
function recordsIn(bytes: Buffer): PaxRecords {
  const found = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(" ", at);
    const length = space < 0 ? Number.NaN : Number(bytes.subarray(at, space).toString("latin1"));
    if (!(length > 0)) break;
    const record = bytes.subarray(space + 1, at + length - 1).toString("latin1");
    const sign = record.indexOf("=");
    if (sign > 0) found.set(record.slice(0, sign), record.slice(sign + 1));
    at += length;
  }
  return found;
}
