// The code cache on disk: one file for the code of one command. V8 runs what it holds without looking at it, so it is read
// only from directories and files that belong to this user and that no other user can write, and only whole. Sandboxes
// mask it with the state root. A cache that cannot be read or written costs time and nothing else: nothing here throws.
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  CODE_CACHE_MAX_BYTES,
  CODE_CACHE_MAX_COUNT,
  CODE_CACHE_TEMPORARY_MAX_MS,
} from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";

export interface CodeCacheEntry {
  /** The name of the file that was compiled. */
  readonly file: string;
  /** Of its content. */
  readonly hash: string;
  readonly code: Buffer;
}

const DIGEST_BYTES = 32;
const LENGTH_BYTES = 4;

/** By the name of the file; empty where there is no cache, or none that can be trusted. */
export function readCodeCache(dir: string, name: string): ReadonlyMap<string, CodeCacheEntry> {
  try {
    if (!isSafe(dir)) return new Map();
    const entries = unpacked(readOwnFile(join(dir, `${name}.bin`)));
    return new Map(entries.map((entry) => [entry.file, entry]));
  } catch {
    return new Map();
  }
}

/** Replaces the file at once: several first runs may do this at the same time. */
export function writeCodeCache(dir: string, name: string, entries: readonly CodeCacheEntry[]): void {
  const temporary = join(dir, `${randomBytes(8).toString("hex")}.tmp`);
  try {
    makeDirs(dir);
    if (!isSafe(dir)) return;
    writeFileSync(temporary, packed(entries), { flag: "wx", mode: 0o600 });
    renameSync(temporary, join(dir, `${name}.bin`));
    removeSurplus(dir);
  } catch {
    // A full or read-only disk: the next run compiles again.
    rmQuietly(temporary);
  }
}

function packed(entries: readonly CodeCacheEntry[]): Buffer {
  const list = entries.map(({ file, hash, code }) => ({ file, hash, bytes: code.length }));
  const header = Buffer.from(JSON.stringify(list));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(header.length);
  const body = Buffer.concat([length, header, ...entries.map(({ code }) => code)]);
  return Buffer.concat([digestOf(body), body]);
}

/** Throws where it is not what `packed` made: V8 itself does not notice a changed byte. */
function unpacked(bytes: Buffer): CodeCacheEntry[] {
  const body = bytes.subarray(DIGEST_BYTES);
  if (!digestOf(body).equals(bytes.subarray(0, DIGEST_BYTES))) throw new Error("damaged");
  const headerEnd = LENGTH_BYTES + body.readUInt32LE();
  const list = JSON.parse(body.subarray(LENGTH_BYTES, headerEnd).toString("utf8")) as readonly {
    readonly file: string;
    readonly hash: string;
    readonly bytes: number;
  }[];
  let at = headerEnd;
  return list.map(({ file, hash, bytes: length }) => {
    const code = body.subarray(at, at + length);
    at += length;
    return { file, hash, code };
  });
}

function digestOf(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function readOwnFile(path: string): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || !isOwn(stats) || stats.size > CODE_CACHE_MAX_BYTES) throw new Error("not ours");
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The state root may be reached through a link; a link in its place below it would lead wherever its maker wants. */
function isSafe(dir: string): boolean {
  const root = statSync(dirname(dir));
  const own = lstatSync(dir);
  return root.isDirectory() && isOwn(root) && own.isDirectory() && isOwn(own);
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** Caches of versions that are gone: the oldest beyond the limits, and what a broken-off write has left. */
function removeSurplus(dir: string): void {
  const files = readdirSync(dir)
    .map((name) => ({ path: join(dir, name), isTemporary: name.endsWith(".tmp") }))
    .flatMap((file) => {
      const stats = lstatSync(file.path, { throwIfNoEntry: false });
      return stats ? [{ ...file, size: stats.size, changedMs: stats.mtimeMs }] : [];
    })
    .sort((a, b) => b.changedMs - a.changedMs);
  let bytes = 0;
  for (const [index, { path, isTemporary, size, changedMs }] of files.entries()) {
    bytes += size;
    const isSurplus = index >= CODE_CACHE_MAX_COUNT || bytes > CODE_CACHE_MAX_BYTES;
    // A younger one is being written by another process.
    const isLeft = isTemporary && Date.now() - changedMs > CODE_CACHE_TEMPORARY_MAX_MS;
    if (isLeft || (isSurplus && !isTemporary)) rmQuietly(path);
  }
}

function rmQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It stays; the next write tries again.
  }
}
