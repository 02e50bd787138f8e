// A directory that this process keeps open. Its entries can then be used without resolving the path again, which would
// be unsafe: between two system calls, another process can replace any part of a path with a link. Node has no
// openat(), but a path below /proc/self/fd has the same effect.
import { closeSync, constants, fsyncSync, openSync } from "node:fs";
import { fsPath, linkTarget } from "./path-text.ts";
import { systemCode } from "./system-error.ts";

/** Opens a directory that may be entered but not read. Linux only, and missing from Node's constants. */
const O_PATH = 0x200000;

export class HeldDirectory {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** undefined if the path does not exist, leads through a link, or is not a directory. */
  static open(path: string): HeldDirectory | undefined {
    let fd: number;
    try {
      fd = openSync(fsPath(path), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(systemCode(error) ?? "")) return undefined;
      throw error;
    }
    // The kernel reports the real path of the opened directory. It differs if any part of `path` was a link.
    if (pathOfDescriptor(fd) === path) return new HeldDirectory(fd);
    closeSync(fd);
    return undefined;
  }

  /** The path of an entry, for node:fs. */
  at(name: string): string | Buffer {
    return fsPath(this.textAt(name));
  }

  /** The path of an entry as text, while this process has the directory open. */
  textAt(name: string): string {
    return `/proc/self/fd/${this.#fd}/${name}`;
  }

  /** The path of the directory for another process. */
  get pathForOthers(): string {
    return `/proc/${process.pid}/fd/${this.#fd}/.`;
  }

  /** Writes the directory to disk, so that a rename survives a power failure. */
  sync(): void {
    let fd: number;
    try {
      fd = openSync(this.at("."), constants.O_RDONLY | constants.O_DIRECTORY);
    } catch (error) {
      // The directory may be entered but not read, so it cannot be synced. The rename is visible, but it may be lost in
      // a power failure.
      if (systemCode(error) === "EACCES") return;
      throw error;
    }
    try {
      fsyncSync(fd);
    } catch (error) {
      // Some file systems cannot sync a directory.
      if (!["EINVAL", "ENOTSUP", "EBADF"].includes(systemCode(error) ?? "")) throw error;
    } finally {
      closeSync(fd);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** The path of an open file, according to the kernel. */
export function pathOfDescriptor(fd: number): string {
  return linkTarget(`/proc/self/fd/${fd}`);
}
