// The directory of a session. Owns the working directory, the directory that a call named last, and whether bash has to
// return to the allowed roots. Reads the directory of bash from /proc: PWD is a variable that commands can set.
import { existsSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import { FRESH_LINK_MAX_MS } from "../support/limits.ts";
import { fsPath, linkTarget } from "../support/path-text.ts";
import { isWithinRoots } from "../support/start-checks.ts";

export class SessionDirectory {
  readonly #roots: readonly string[] | undefined;
  #cwd: string;
  /** /proc/PID/cwd of bash after the last command. */
  #link: string | undefined;
  /** The last link that inBash() read, and when. */
  #lastRead: { readonly link: string | undefined; readonly atMs: number } | undefined;
  #named: string | undefined;
  #mustReturn = false;

  constructor(cwd: string, named: string | undefined, allowedRoots: readonly string[] | undefined) {
    this.#cwd = cwd;
    this.#named = named;
    this.#roots = allowedRoots;
  }

  /** Where the next command runs. */
  get cwd(): string {
    return this.#cwd;
  }

  /** Whether this directory differs from the one that the last call named. */
  isNew(named: string | undefined): named is string {
    return named !== undefined && named !== this.#named;
  }

  forgetNamed(): void {
    this.#named = undefined;
  }

  /**
   * Where the next command runs in the bash of this PID. Another process may have renamed or removed the directory
   * since the last command.
   */
  inBash(pid: number): string {
    const link = cwdLink(pid);
    this.#lastRead = { link, atMs: monotonicMs() };
    if (this.#mustReturn || link === undefined || link === this.#link) return this.#cwd;
    return isRemoved(pid, link) ? nearestDirectory(this.#cwd) : (directoryOf(pid, this.#cwd) ?? this.#cwd);
  }

  /** The directory that the next command has to change to first, if any. */
  takeChange(named: string | undefined): string | undefined {
    const back = this.#mustReturn ? this.#cwd : undefined;
    this.#mustReturn = false;
    if (!this.isNew(named)) return back;
    this.#named = named;
    return named;
  }

  /** If the directory of bash was removed, moves the session to the nearest existing parent and returns that parent. */
  leaveRemoved(pid: number): string | undefined {
    const last = this.#lastRead;
    // inBash() has usually just read the link, so use that result.
    const isFresh = last !== undefined && monotonicMs() - last.atMs < FRESH_LINK_MAX_MS;
    if (!isRemoved(pid, isFresh ? last.link : cwdLink(pid))) return undefined;
    this.#cwd = nearestDirectory(this.#cwd);
    return this.#cwd;
  }

  changeTo(directory: string): void {
    this.#cwd = directory;
  }

  /**
   * Call this after a command, with the value of PWD. Returns the directory of bash if that is outside the allowed
   * roots: the next command then changes back first. `mayHaveMoved`: whether the command may have changed or renamed
   * the directory.
   */
  settle(pid: number, pwd: string, mayHaveMoved: boolean): string | undefined {
    if (!mayHaveMoved && pwd === this.#cwd && this.#link !== undefined) return undefined;
    // An unchanged PWD proves nothing: it can be readonly or reassigned.
    const link = cwdLink(pid);
    if (pwd === this.#cwd && link === this.#link) return undefined;
    this.#link = undefined;
    const real = directoryOf(pid, pwd);
    if (real === undefined) return undefined;
    if (this.#roots && !isWithinRoots(real, this.#roots)) {
      this.#mustReturn = true;
      return real;
    }
    this.#cwd = real;
    this.#link = link;
    return undefined;
  }

  /** Moves a restarted session to this directory, which then counts as named by a call. */
  reset(directory: string): void {
    this.#cwd = directory;
    this.#named = directory;
  }
}

/** The directory itself if it exists, else the nearest one above it. */
export function nearestDirectory(path: string): string {
  let dir = path;
  while (!existsSync(fsPath(dir)) && dir !== dirname(dir)) dir = dirname(dir);
  return dir;
}

/** The link as latin1 bytes: use it to compare, not to display. */
function cwdLink(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`, "latin1");
  } catch {
    return undefined;
  }
}

/**
 * Whether the directory of bash was removed, even if a directory of the same name exists again. A name that ends with
 * DELETED proves nothing by itself.
 */
function isRemoved(pid: number, link: string | undefined): boolean {
  if (!link?.endsWith(DELETED)) return false;
  return attempt(() => statSync(`/proc/${pid}/cwd`).nlink) === 0;
}

/** The directory of bash. Uses the spelling `pwd` if that names the same directory. */
function directoryOf(pid: number, pwd: string): string | undefined {
  return attempt(() => {
    const real = statSync(`/proc/${pid}/cwd`);
    const named = statSync(fsPath(pwd), { throwIfNoEntry: false });
    if (named?.ino === real.ino && named.dev === real.dev) return pwd;
    const path = linkTarget(`/proc/${pid}/cwd`);
    return real.nlink === 0 && path.endsWith(DELETED) ? path.slice(0, -DELETED.length) : path;
  });
}

/** The suffix that the kernel appends to the path of a removed directory. */
const DELETED = " (deleted)";
