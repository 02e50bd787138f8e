// Reads a regular file. Checks the type of the file before and after opening it: otherwise it could read a fifo, a
// device or a link that another process creates in between.
import { constants, lstatSync, statfsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { HeldDirectory, pathOfDescriptor } from "../../support/held-directory.ts";
import { FILE_ATTEMPTS_MAX_COUNT, FILE_MAX_BYTES } from "../../support/limits.ts";
import { systemCode } from "../../support/system-error.ts";
import type { FileIdentity, LoadAnswer, LoadedFile } from "./disk.ts";
import { kindOfEntry } from "./locate.ts";

/** `real`: a path without links, as locatePath() returned it. */
export async function load(real: string): Promise<LoadAnswer> {
  const directory = HeldDirectory.open(dirname(real));
  if (!directory) return { kind: "moved" };
  try {
    return await loadFrom(directory, real);
  } finally {
    directory.close();
  }
}

export async function loadFrom(directory: HeldDirectory, real: string): Promise<LoadAnswer> {
  const path = directory.at(basename(real));
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (!entry || entry.isSymbolicLink()) return { kind: "moved" };
  // Check the type before opening: opening a device can have an effect, such as rewinding a tape.
  if (!entry.isFile()) return { kind: "not a file", entry: kindOfEntry(entry) };
  const handle = await openRegular(path);
  if (!handle) return { kind: "moved" };
  try {
    if (pathOfDescriptor(handle.fd) !== real) return { kind: "moved" };
    if (isKernelFile(handle.fd)) return { kind: "not a file", entry: "kernel file" };
    return await readStable(handle);
  } finally {
    await handle.close();
  }
}

async function openRegular(path: string | Buffer): Promise<FileHandle | undefined> {
  try {
    // O_NONBLOCK: if another process has replaced the file by a fifo, open() must not wait for a writer.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
    return await open(path, flags);
  } catch (error) {
    if (["ELOOP", "ENOENT", "ENXIO"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

/** Repeats the read until the file does not change during a read. */
async function readStable(handle: FileHandle): Promise<LoadAnswer> {
  for (let attempts = 0; attempts < FILE_ATTEMPTS_MAX_COUNT; attempts++) {
    const before = await handle.stat({ bigint: true });
    if (!before.isFile()) return { kind: "moved" };
    const size = Number(before.size);
    if (size > FILE_MAX_BYTES) return { kind: "too large", size };
    const bytes = await readWhole(handle, size);
    const after = await handle.stat({ bigint: true });
    if (bytes.length === size && after.size === before.size && after.mtimeNs === before.mtimeNs) {
      return { kind: "loaded", identity: identityOf(after), hardLinks: Number(after.nlink), bytes };
    }
  }
  return { kind: "busy" };
}

async function readWhole(handle: FileHandle, size: number): Promise<Buffer> {
  // Ask for one byte more than expected: if that byte arrives, the file has grown.
  const buffer = Buffer.allocUnsafeSlow(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

export function identityOf(stat: {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
}): FileIdentity {
  return {
    dev: String(stat.dev),
    ino: String(stat.ino),
    size: Number(stat.size),
    mtimeNs: String(stat.mtimeNs),
  };
}

export function isSameVersion(one: FileIdentity, other: FileIdentity): boolean {
  return (
    one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs
  );
}

export function loadedOf(answer: LoadAnswer): LoadedFile | undefined {
  return answer.kind === "loaded" ? answer : undefined;
}

function isKernelFile(fd: number): boolean {
  return KERNEL_FILE_SYSTEMS.has(statfsSync(`/proc/self/fd/${fd}`).type);
}

/** File systems whose content the kernel generates on each read: proc, sysfs, cgroup and others. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x64626720, 0x74726163, 0x73636673, 0x27e0eb, 0x63677270, 0xcafe4a11, 0x1cd1,
  0x6e736673, 0x62656570, 0xde5e81e4, 0x6165676c, 0x42494e4d, 0xf97cff8c, 0x19800202, 0x50494446,
]);
