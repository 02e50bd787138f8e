// The code cache on disk: one file per command. V8 runs cached code without checking it. So nacre reads a cache file
// only if this user owns the file and its directories, no other user can write them, and the checksum matches.
// Sandboxed commands cannot write the cache, because a sandbox masks the whole state root. Functions here never throw:
// without a cache, the program only starts more slowly.
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
  /** The name of the compiled file. */
  readonly file: string;
  /** SHA-256 of its content. */
  readonly hash: string;
  readonly code: Buffer;
}

const DIGEST_BYTES = 32;
const LENGTH_BYTES = 4;

/** Entries by file name; empty if there is no trustworthy cache. */
export function readCodeCache(dir: string, name: string): ReadonlyMap<string, CodeCacheEntry> {
  try {
    if (!isSafe(dir)) return new Map();
    const entries = unpacked(readOwnFile(join(dir, `${name}.bin`)));
    return new Map(entries.map((entry) => [entry.file, entry]));
  } catch {
    return new Map();
  }
}

/** Replaces the file atomically, because several first runs can write at the same time. */
export function writeCodeCache(dir: string, name: string, entries: readonly CodeCacheEntry[]): void {
  const temporary = join(dir, `${randomBytes(8).toString("hex")}.tmp`);
  try {
    makeDirs(dir);
    if (!isSafe(dir)) return;
    writeFileSync(temporary, packed(entries), { flag: "wx", mode: 0o600 });
    renameSync(temporary, join(dir, `${name}.bin`));
    removeSurplus(dir);
  } catch {
    // The disk may be full or read-only. The next run compiles again.
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

/** Throws if the checksum does not match, because V8 itself does not detect a changed byte. */
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

/**
 * The state root may be a link to a directory that this user owns. The cache directory must not be a link: another user
 * could have created it.
 */
function isSafe(dir: string): boolean {
  const root = statSync(dirname(dir));
  const own = lstatSync(dir);
  return root.isDirectory() && isOwn(root) && own.isDirectory() && isOwn(own);
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** Removes the oldest files beyond the limits, and temporary files of interrupted writes. */
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
    // Another process may still be writing a newer temporary file.
    const isStale = isTemporary && Date.now() - changedMs > CODE_CACHE_TEMPORARY_MAX_MS;
    if (isStale || (isSurplus && !isTemporary)) rmQuietly(path);
  }
}

function rmQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next write tries again.
  }
}
