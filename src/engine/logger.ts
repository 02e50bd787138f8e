// One logger of a session, looked at from outside: how much it has written, and whether anything is still on
// its way. Its files in /proc are kept open: a look costs microseconds.
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { attempt } from "../support/attempt.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";
import { pipePath } from "./process-pipe.ts";
import { RESTORED_SUFFIX } from "./state-dir.ts";

/** `idle`: it has taken everything there was. `hidden`: this system does not let us look. */
export type LoggerState = "idle" | "busy" | "stopped" | "hidden" | "gone";

export class Logger {
  readonly pid: number;
  /** What it writes to. */
  readonly file: string;
  /** Where a session's bash opens what it reads from, if it was started for a session that ran already. */
  readonly input: string | undefined;
  /** See inputLink. */
  #link: string | undefined;
  #fifo: string | undefined;
  readonly #output: number;
  readonly #wchan: number | undefined;
  readonly #stat: number | undefined;
  readonly #syscall: number | undefined;
  readonly #io: number | undefined;
  /** What it had written before it was a logger. */
  readonly #before: number;
  /** The copy of its file that was put in the place of that. */
  #copy: Stats | undefined;
  #hold: number | undefined;
  #closed = false;

  /** `later`: it was started for a session that ran already, and reads from this fifo, or from a pipe without a name. */
  constructor(pid: number, file: string, later?: { readonly fifo: string | undefined }) {
    this.pid = pid;
    this.file = file;
    this.#fifo = later?.fifo;
    this.input = later && (later.fifo ?? pipePath(pid, 0));
    if (later) this.#link = readlinkSync(pipePath(pid, 0));
    this.#output = openSync(file, constants.O_RDONLY | constants.O_CREAT, 0o600);
    this.#wchan = openQuietly(`/proc/${pid}/wchan`);
    this.#stat = openQuietly(`/proc/${pid}/stat`);
    this.#syscall = openQuietly(`/proc/${pid}/syscall`);
    this.#io = openQuietly(ioPath(pid));
    this.#before = later ? (writtenIn(readQuietly(this.#io)) ?? 0) : 0;
    if (this.input !== undefined) this.#begin(this.input);
  }

  /** What a descriptor of the pipe it reads from looks like in /proc; also after its end, once it has been idle. */
  get inputLink(): string | undefined {
    return this.#link ?? attempt(() => readlinkSync(pipePath(this.pid, 0)));
  }

  /** Bytes on disk. */
  get size(): number {
    return fstatSync(this.#output).size;
  }

  /** Bytes it has ever written, wherever they are now; undefined where the system does not count, or it has ended. */
  get written(): number | undefined {
    // One that could not write has written why it could not, too.
    if (this.state === "gone") return undefined;
    const count = writtenIn(readQuietly(this.#io));
    return count === undefined ? undefined : count - this.#before;
  }

  /** Whether its file is where it was: not removed, and nothing else in its place. */
  get hasFile(): boolean {
    const found = attempt(() => lstatSync(this.file));
    if (!found) return false;
    const own = this.#copy ?? fstatSync(this.#output);
    return found.ino === own.ino && found.dev === own.dev;
  }

  /** Puts a copy of the file back where it was. What the logger writes after that is not in it. */
  restoreFile(): void {
    makeDirs(dirname(this.file));
    const copy = this.file + RESTORED_SUFFIX;
    try {
      copyFileSync(`/proc/self/fd/${this.#output}`, copy);
      renameSync(copy, this.file);
      this.#copy = lstatSync(this.file);
    } catch (error) {
      attempt(() => unlinkSync(copy));
      throw error;
    }
  }

  get state(): LoggerState {
    // Asleep where the kernel waits for a pipe to fill: nearly always that says all, in one look. Its output is a file.
    if (/^(?:anon_)?pipe_(?:read|wait)/.test(readQuietly(this.#wchan) ?? "")) {
      // Not before: a logger that has just been forked may not have its pipe yet.
      this.#link ??= this.inputLink;
      return "idle";
    }
    const stat = readQuietly(this.#stat);
    if (stat === undefined) return "gone";
    const state = stat[stat.lastIndexOf(")") + 2] ?? "X";
    if (state === "Z" || state === "X") return "gone";
    if (state === "T" || state === "t") return "stopped";
    if (state !== "S") return "busy";
    const call = readQuietly(this.#syscall);
    if (call === undefined) return "hidden";
    // Asleep in a read of its stdin: the pipe was empty. Asleep alone does not say so, a slow file system
    // sleeps in write, too. (x86-64 and arm64)
    return call.startsWith("0 0x0 ") || call.startsWith("63 0x0 ") ? "idle" : "busy";
  }

  /** bash has it open now: its fifo needs no name any more. */
  isTaken(): void {
    const fifo = this.#fifo;
    this.#fifo = undefined;
    // Where the keeper is gone, everything of it is.
    if (fifo !== undefined) attempt(() => unlinkSync(fifo));
  }

  /** Held until now: it does not end with the bash that prints to it, so that one that has ended was ended. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.isTaken();
    for (const fd of [this.#hold, this.#output, this.#wchan, this.#stat, this.#syscall, this.#io])
      if (fd !== undefined) closeSync(fd);
  }

  /** It waits for an empty line: from then on its stdin is open for writing here. */
  #begin(input: string): void {
    this.#hold = openSync(input, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(this.#hold, "\n");
  }
}

/** Opens the file for each read: for loggers that are checked rarely. */
export function writtenBy(pid: number): number | undefined {
  return writtenIn(attempt(() => readFileSync(ioPath(pid), "latin1")));
}

/** Of its one thread: the process as a whole counts what its children have written, too. */
function ioPath(pid: number): string {
  return `/proc/${pid}/task/${pid}/io`;
}

function writtenIn(io: string | undefined): number | undefined {
  const count = /^wchar: (\d+)$/m.exec(io ?? "")?.[1];
  return count === undefined ? undefined : Number(count);
}

const scratch = Buffer.alloc(512);

function readQuietly(fd: number | undefined): string | undefined {
  if (fd === undefined) return undefined;
  try {
    return scratch.toString("latin1", 0, readSync(fd, scratch, 0, scratch.length, 0));
  } catch {
    return undefined;
  }
}

/** Being out of descriptors is not the same as there being nothing to see. */
function openQuietly(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (["EMFILE", "ENFILE"].includes(systemCode(error) ?? "")) throw error;
    return undefined;
  }
}
