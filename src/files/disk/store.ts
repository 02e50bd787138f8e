// Replaces the bytes of a file if the file still has the version that the caller knows.
//
//   store
//     MadeDirectories.open  creates missing directories, and opens the file's directory
//     loadFrom, isExpected  reads the file again: identity and hash must be those the caller knows
//     replace | createNew   temporary file, owner, mode and attributes, fsync, rename (link for a new file), fsync
//     writeInPlace          if a rename is impossible or would break hard links or the owner
//
// If any step fails, the file keeps its old bytes, and no temporary file or new directory remains.
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { copyAttributes } from "../../engine/copy-attributes.ts";
import { attempt } from "../../support/attempt.ts";
import { HeldDirectory, pathOfDescriptor } from "../../support/held-directory.ts";
import { fsPath } from "../../support/path-text.ts";
import { systemCode } from "../../support/system-error.ts";
import type { InPlaceReason, LoadAnswer, StoreAnswer, StoreRequest } from "./disk.ts";
import { identityOf, isSameVersion, loadedOf, loadFrom } from "./load.ts";

export async function store(request: StoreRequest): Promise<StoreAnswer> {
  const { real, missingDirs } = request;
  const made = new MadeDirectories(real, missingDirs);
  const directory = made.open();
  if (!directory) return { kind: "moved" };
  try {
    const answer = await storeIn(directory, request);
    if (answer.kind !== "stored") made.remove();
    return answer;
  } catch (error) {
    made.remove();
    throw error;
  } finally {
    directory.close();
  }
}

async function storeIn(directory: HeldDirectory, request: StoreRequest): Promise<StoreAnswer> {
  const { real, expected } = request;
  const path = directory.at(basename(real));
  if (expected === null) return await createNew(directory, path, request);
  const found = await loadFrom(directory, real);
  if (!isExpected(found, expected)) {
    return found.kind === "moved" && lstatSync(path, { throwIfNoEntry: false })
      ? { kind: "moved" }
      : { kind: "stale", current: loadedOf(found) };
  }
  // Refuse a read-only file: a rename could replace the file even though a command could not write to it.
  accessSync(path, constants.W_OK);
  if (found.hardLinks > 1) return await writeInPlace(path, request, found.bytes, "hard link");
  return await replace(directory, path, request, found.bytes);
}

function isExpected(
  found: LoadAnswer,
  { identity, sha256 }: NonNullable<StoreRequest["expected"]>,
): found is Extract<LoadAnswer, { kind: "loaded" }> {
  return (
    found.kind === "loaded" && isSameVersion(found.identity, identity) && sha256Of(found.bytes) === sha256
  );
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function replace(
  directory: HeldDirectory,
  path: string | Buffer,
  request: StoreRequest,
  before: Buffer,
): Promise<StoreAnswer> {
  const temporary = directory.at(request.temporary);
  const inPlace = (why: InPlaceReason) => writeInPlace(path, request, before, why);
  let handle: FileHandle;
  try {
    handle = await open(temporary, CREATE_NEW, 0o600);
  } catch (error) {
    // Write in place: this user can write to the file, but cannot create a file in its directory.
    if (["EACCES", "EPERM", "EROFS"].includes(systemCode(error) ?? "")) return await inPlace("directory");
    throw error;
  }
  try {
    const old = lstatSync(path, { bigint: true });
    await handle.writeFile(request.bytes);
    if (!(await keepOwner(handle, old))) {
      unlinkSync(temporary);
      return await inPlace("owner");
    }
    const mayLackAttributes = !(await keepAttributes(path, handle));
    // Set the mode again: chown clears the setuid bit, and without cp the mode was not copied.
    await handle.chmod(Number(old.mode) & 0o7777);
    await handle.sync();
    const identity = identityOf(await handle.stat({ bigint: true }));
    // Rename right after this last check. A program that does not use nacre's lock can still write in between.
    const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (!now || !isSameVersion(identityOf(now), identityOf(old))) {
      unlinkSync(temporary);
      return { kind: "stale", current: loadedOf(await loadFrom(directory, request.real)) };
    }
    try {
      renameSync(temporary, path);
    } catch (error) {
      if (!["EBUSY", "EXDEV"].includes(systemCode(error) ?? "")) throw error;
      unlinkSync(temporary);
      return await inPlace("mount point");
    }
    directory.sync();
    return { kind: "stored", identity, hardLinks: 1, inPlace: undefined, mayLackAttributes };
  } catch (error) {
    attempt(() => unlinkSync(temporary));
    throw error;
  } finally {
    await handle.close();
  }
}

/** Gives the new file the owner of the old file. Returns false if this user lacks the permission. */
async function keepOwner(
  handle: FileHandle,
  { uid, gid }: { readonly uid: bigint; readonly gid: bigint },
): Promise<boolean> {
  const own = await handle.stat({ bigint: true });
  if (own.uid === uid && own.gid === gid) return true;
  try {
    await handle.chown(Number(uid), Number(gid));
    return true;
  } catch (error) {
    if (["EPERM", "EINVAL", "EACCES"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
}

/** Returns false if an access control list or extended attribute of the old file could not be copied. */
async function keepAttributes(path: string | Buffer, handle: FileHandle): Promise<boolean> {
  const old = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await copyAttributes(old.fd, handle.fd);
  } finally {
    await old.close();
  }
}

/** Names the temporary file with link(), which fails if another process has created the file meanwhile. */
async function createNew(
  directory: HeldDirectory,
  path: string | Buffer,
  { real, bytes, temporary: name }: StoreRequest,
): Promise<StoreAnswer> {
  const temporary = directory.at(name);
  const handle = await open(temporary, CREATE_NEW, 0o666);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
    const identity = identityOf(await handle.stat({ bigint: true }));
    try {
      linkSync(temporary, path);
    } catch (error) {
      const code = systemCode(error) ?? "";
      if (code !== "EEXIST" && !["EPERM", "ENOTSUP", "ENOSYS"].includes(code)) throw error;
      if (lstatSync(path, { throwIfNoEntry: false })) {
        return { kind: "stale", current: loadedOf(await loadFrom(directory, real)) };
      }
      // This file system has no hard links.
      renameSync(temporary, path);
    }
    attempt(() => unlinkSync(temporary));
    directory.sync();
    return { kind: "stored", identity, hardLinks: 1, inPlace: undefined, mayLackAttributes: false };
  } finally {
    attempt(() => unlinkSync(temporary));
    await handle.close();
  }
}

/** Not atomic. If the write fails, for example on a full disk, writes the old bytes back. */
async function writeInPlace(
  path: string | Buffer,
  { real, bytes }: StoreRequest,
  before: Buffer,
  inPlace: InPlaceReason,
): Promise<StoreAnswer> {
  const handle = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (pathOfDescriptor(handle.fd) !== real) return { kind: "moved" };
    try {
      await overwrite(handle, bytes);
    } catch (error) {
      await overwrite(handle, before);
      throw error;
    }
    const stat = await handle.stat({ bigint: true });
    const hardLinks = Number(stat.nlink);
    return { kind: "stored", identity: identityOf(stat), hardLinks, inPlace, mayLackAttributes: false };
  } finally {
    await handle.close();
  }
}

async function overwrite(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, at);
    at += bytesWritten;
  }
  await handle.truncate(bytes.length);
  await handle.sync();
}

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Creates the missing parent directories of a file, outermost first, and removes them after a failure. */
class MadeDirectories {
  readonly #parent: string;
  readonly #names: readonly string[];
  readonly #made: string[] = [];

  constructor(real: string, missingDirs: number) {
    let parent = dirname(real);
    const names: string[] = [];
    for (let i = 0; i < missingDirs; i++) {
      names.unshift(basename(parent));
      parent = dirname(parent);
    }
    this.#parent = parent;
    this.#names = names;
  }

  open(): HeldDirectory | undefined {
    let path = this.#parent;
    let directory = HeldDirectory.open(path);
    for (const name of this.#names) {
      if (!directory) break;
      const next = path === "/" ? `/${name}` : `${path}/${name}`;
      try {
        this.#make(directory.at(name), next);
      } catch (error) {
        this.remove();
        throw error;
      } finally {
        directory.close();
      }
      path = next;
      directory = HeldDirectory.open(path);
    }
    if (!directory) this.remove();
    return directory;
  }

  remove(): void {
    for (const path of this.#made.reverse()) attempt(() => rmdirSync(fsPath(path)));
  }

  #make(path: string | Buffer, name: string): void {
    try {
      mkdirSync(path);
      this.#made.push(name);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
  }
}
