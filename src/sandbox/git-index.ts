// Reads the gitlinks in a git index: directories that git treats as separate repositories. When git checks for changes,
// it also runs in each gitlink directory, with the configuration of that repository.
import { statSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { GIT_INDEX_MAX_BYTES } from "../support/limits.ts";
import { fsPath, textOfBytes } from "../support/path-text.ts";
import { bytesIn } from "./git-file.ts";

/** Returns a text that differs after each write of the index; undefined if there is no index. */
export function indexStamp(file: string): string | undefined {
  const stat = attempt(() => statSync(fsPath(file), { throwIfNoEntry: false }));
  return stat && `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
}

/** Paths relative to the working tree. Empty if the index is too large or has an unknown format. */
export function gitlinksIn(file: string): string[] {
  const bytes = bytesIn(file, GIT_INDEX_MAX_BYTES);
  if (!bytes) return [];
  // The index does not record the hash function of the repository, so try both.
  for (const objectBytes of [SHA1_BYTES, SHA256_BYTES]) {
    const links = attempt(() => parse(bytes, objectBytes));
    if (links) return links;
  }
  return [];
}

const HEADER_BYTES = 12;
const SHA1_BYTES = 20;
const SHA256_BYTES = 32;
/** An entry has times, device, inode, mode, owner and size, then the object's name, flags and the path. */
const MODE_AT = 24;
const OBJECT_AT = 40;
const EXTENDED_FLAG = 0x4000;
const LENGTH_FLAGS = 0xfff;
const GITLINK = 0o160000;

/** undefined if the bytes are not an index with object names of this size. */
function parse(bytes: Buffer, objectBytes: number): string[] | undefined {
  if (bytes.toString("latin1", 0, 4) !== "DIRC") return undefined;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  const links: string[] = [];
  let at = HEADER_BYTES;
  let name: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry++) {
    const flags = bytes.readUInt16BE(at + OBJECT_AT + objectBytes);
    let start = at + OBJECT_AT + objectBytes + (flags & EXTENDED_FLAG ? 4 : 2);
    let kept = 0;
    if (version === 4) {
      const shortened = readNumber(bytes, start);
      start = shortened.end;
      kept = name.length - shortened.value;
    }
    const end = bytes.indexOf(0, start);
    if (end < 0 || kept < 0) return undefined;
    const own = bytes.subarray(start, end);
    name = version === 4 ? Buffer.concat([name.subarray(0, kept), own]) : own;
    if ((flags & LENGTH_FLAGS) !== Math.min(name.length, LENGTH_FLAGS)) return undefined;
    if (bytes.readUInt32BE(at + MODE_AT) === GITLINK) links.push(textOfBytes(name));
    // Up to version 3, entries are padded to multiples of eight bytes, with at least one NUL.
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8;
  }
  return links;
}

/** The number of bytes that version 4 removes from the previous name: git's variable-length offset encoding. */
function readNumber(bytes: Buffer, from: number): { readonly value: number; readonly end: number } {
  let at = from;
  let byte = bytes.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = bytes.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at };
}
