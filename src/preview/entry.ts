// Reads one entry of a directory tree with lstat, and compares entries.
import { closeSync, constants, lstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { PREVIEW_COMPARE_CHUNK_BYTES } from "../support/limits.ts";
import { fsPath, linkTarget, namesIn } from "../support/path-text.ts";

export type EntryType = "file" | "directory" | "symlink" | "fifo" | "socket" | "device";

/** Plain data, because records contain it as JSON. 64-bit numbers are stored as text. */
export interface Entry {
  readonly type: EntryType;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
  readonly ino: string;
  readonly links: number;
  /** The target of a symbolic link. */
  readonly target?: string;
}

/** A whiteout: the entry of an upper layer that marks the entry below as deleted. */
export type UpperEntry = Entry | "whiteout";

/** Returns undefined if there is no entry. Throws if the path cannot be read. */
export function entryAt(path: string): Entry | undefined {
  const found = upperEntryAt(path);
  return found === "whiteout" ? undefined : found;
}

export function upperEntryAt(path: string): UpperEntry | undefined {
  const stat = lstatSync(fsPath(path), { bigint: true, throwIfNoEntry: false });
  if (!stat) return undefined;
  if (stat.isCharacterDevice() && stat.rdev === 0n) return "whiteout";
  const type = stat.isFile()
    ? "file"
    : stat.isDirectory()
      ? "directory"
      : stat.isSymbolicLink()
        ? "symlink"
        : stat.isFIFO()
          ? "fifo"
          : stat.isSocket()
            ? "socket"
            : "device";
  return {
    type,
    mode: Number(stat.mode & 0o7777n),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    size: Number(stat.size),
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
    ino: String(stat.ino),
    links: Number(stat.nlink),
    ...(type === "symlink" ? { target: linkTarget(path) } : {}),
  };
}

/** Whether the entry is unchanged. Ignores the content of a directory. */
export function isUnchanged(now: Entry | undefined, known: Entry): boolean {
  if (!now || !isSameObject(now, known)) return false;
  // Ignore the ctime of a file with several names: adding or removing a name changes it.
  return (
    now.type === "directory" || now.links !== known.links || now.links > 1 || now.ctimeNs === known.ctimeNs
  );
}

/** Like isUnchanged, but for an entry that was renamed: ignores the ctime, because a rename changes it. */
export function isSameObject(now: Entry, known: Entry): boolean {
  if (now.type !== known.type || now.mode !== known.mode || now.uid !== known.uid || now.gid !== known.gid)
    return false;
  if (now.type === "directory") return true;
  return (
    now.ino === known.ino &&
    now.size === known.size &&
    now.mtimeNs === known.mtimeNs &&
    now.target === known.target
  );
}

/** Every entry below a directory, with its path relative to that directory. Skips unreadable directories. */
export function treeBelow(directory: string): [string, Entry][] {
  const found: [string, Entry][] = [];
  const walk = (at: string) => {
    for (const name of attempt(() => namesIn(join(directory, at))) ?? []) {
      const path = at === "" ? name : `${at}/${name}`;
      const entry = attempt(() => entryAt(join(directory, path)));
      if (!entry) continue;
      found.push([path, entry]);
      if (entry.type === "directory") walk(path);
    }
  };
  walk("");
  return found;
}

/** Whether two regular files of the same size have the same bytes. */
export function haveSameBytes(one: string, other: string): boolean {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const first = openSync(fsPath(one), flags);
  try {
    const second = openSync(fsPath(other), flags);
    try {
      return haveSameContent(first, second);
    } finally {
      closeSync(second);
    }
  } finally {
    closeSync(first);
  }
}

function haveSameContent(first: number, second: number): boolean {
  const [left, right] = [PREVIEW_COMPARE_CHUNK_BYTES, PREVIEW_COMPARE_CHUNK_BYTES].map((size) =>
    Buffer.alloc(size),
  );
  if (!left || !right) return false;
  for (let at = 0; ; ) {
    const length = readSync(first, left, 0, left.length, at);
    if (readSync(second, right, 0, right.length, at) !== length) return false;
    if (length === 0) return true;
    if (!left.subarray(0, length).equals(right.subarray(0, length))) return false;
    at += length;
  }
}
