// One logger of a session, watched from outside: how much it has written, and whether it still has bytes to write.
// Keeps the logger's files in /proc open, so that one check takes only microseconds.
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { ioPath, WRITTEN_BYTES } from "../engine/logger-count.ts";
import { pipePath } from "../engine/process-pipe.ts";
import { RESTORED_SUFFIX } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { monotonicMs } from "../support/clock.ts";
import {
  PROC_IO_READ_BYTES,
  SESSION_DRAIN_BLOCKING_COUNT,
  SESSION_DRAIN_IDLE_MS,
  SESSION_DRAIN_MAX_MS,
  SESSION_DRAIN_PAUSE_MS,
  SESSION_DRAIN_POLL_MS,
} from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { systemCode } from "../support/system-error.ts";
import { sleep } from "../support/timing.ts";

/**
 * `idle`: the logger waits for input and has written everything. `hidden`: this process may not see the logger's state.
 */
export type LoggerState = "idle" | "busy" | "stopped" | "hidden" | "gone";

export class Logger {
  readonly pid: number;
  /** The file that the logger writes to. */
  readonly file: string;
  /** The path at which bash opens the logger's pipe, if the logger was started for a running session. */
  readonly input: string | undefined;
  /** See inputLink. */
  #link: string | undefined;
  #fifo: string | undefined;
  readonly #output: number;
  readonly #wchan: number | undefined;
  readonly #stat: number | undefined;
  readonly #syscall: number | undefined;
  readonly #io: number | undefined;
  /** Bytes that the process had written before it became a logger. */
  readonly #before: number;
  /** The file as it was opened: its inode shows later whether the file was replaced. */
  readonly #opened: Stats;
  /** The copy that replaced its removed file. */
  #copy: Stats | undefined;
  #hold: number | undefined;
  #closed = false;

  /** `later`: the logger was started for a running session, and reads from this fifo or from an unnamed pipe. */
  constructor(pid: number, file: string, later?: { readonly fifo: string | undefined }) {
    this.pid = pid;
    this.file = file;
    this.#fifo = later?.fifo;
    this.input = later && (later.fifo ?? pipePath(pid, 0));
    if (later) this.#link = readlinkSync(pipePath(pid, 0));
    this.#output = openSync(file, constants.O_RDONLY | constants.O_CREAT, 0o600);
    this.#opened = fstatSync(this.#output);
    this.#wchan = openQuietly(`/proc/${pid}/wchan`);
    this.#stat = openQuietly(`/proc/${pid}/stat`);
    this.#syscall = openQuietly(`/proc/${pid}/syscall`);
    this.#io = openQuietly(ioPath(pid));
    this.#before = later ? (this.#writtenInAll ?? 0) : 0;
    if (this.input !== undefined) this.#begin(this.input);
  }

  /**
   * What /proc/PID/fd shows for the logger's pipe. After the logger's end, this is known only if `state` was idle at
   * some time.
   */
  get inputLink(): string | undefined {
    return this.#link ?? attempt(() => readlinkSync(pipePath(this.pid, 0)));
  }

  /** Bytes on disk. */
  get size(): number {
    return fstatSync(this.#output).size;
  }

  /**
   * All bytes that the logger wrote, even if the file was truncated; undefined after its end or without a kernel count.
   */
  get written(): number | undefined {
    // After the logger has ended, the count would include the logger's error message.
    if (this.state === "gone") return undefined;
    const count = this.#writtenInAll;
    return count === undefined ? undefined : count - this.#before;
  }

  get #writtenInAll(): number | undefined {
    const count = WRITTEN_BYTES.exec(readQuietly(this.#io) ?? "")?.[1];
    return count === undefined ? undefined : Number(count);
  }

  /** Checks with one system call whether the file is still the same, and returns its size. */
  checkFile(): { readonly isThere: boolean; readonly size: number | undefined } {
    try {
      const { ino, dev, size } = lstatSync(this.file);
      const own = this.#copy ?? this.#opened;
      // If the file was replaced by a copy, its size means nothing, because the logger does not write to the copy.
      const isThere = ino === own.ino && dev === own.dev;
      return { isThere, size: isThere && !this.#copy ? size : undefined };
    } catch {
      return { isThere: false, size: undefined };
    }
  }

  /** Puts a copy of the logger's file back. What the logger writes later does not reach the copy. */
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
    // The logger sleeps in the kernel function that waits for a pipe to fill. That pipe is its input, because its
    // output is a file. This check alone is nearly always enough.
    if (/^(?:anon_)?pipe_(?:read|wait)/.test(readQuietly(this.#wchan) ?? "")) {
      // Read the link only now: a logger that was just forked may not have its pipe yet.
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
    // A logger that sleeps in a read of its stdin (call 0 on x86-64, 63 on arm64) found the pipe empty. On a slow file
    // system, a logger also sleeps in write.
    return call.startsWith("0 0x0 ") || call.startsWith("63 0x0 ") ? "idle" : "busy";
  }

  /** Call this when bash has the fifo open, because the fifo then no longer needs a name. */
  unlinkFifo(): void {
    const fifo = this.#fifo;
    this.#fifo = undefined;
    // This fails if the keeper has ended and removed its files.
    if (fifo !== undefined) attempt(() => unlinkSync(fifo));
  }

  /** Closes all descriptors. Until this call, a logger that was started for a running session outlives bash. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.unlinkFifo();
    for (const fd of [this.#hold, this.#output, this.#wchan, this.#stat, this.#syscall, this.#io])
      if (fd !== undefined) closeSync(fd);
  }

  /** Opens the logger's pipe, keeps it open, and sends the empty line for which the logger waits. */
  #begin(input: string): void {
    this.#hold = openSync(input, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(this.#hold, "\n");
  }
}

const scratch = Buffer.alloc(PROC_IO_READ_BYTES);

function readQuietly(fd: number | undefined): string | undefined {
  if (fd === undefined) return undefined;
  try {
    return scratch.toString("latin1", 0, readSync(fd, scratch, 0, scratch.length, 0));
  } catch {
    return undefined;
  }
}

/**
 * Returns undefined if the file is gone. Throws if no descriptors are left: otherwise a running logger would look like
 * one that has ended.
 */
function openQuietly(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (["EMFILE", "ENFILE"].includes(systemCode(error) ?? "")) throw error;
    return undefined;
  }
}

/** Waits until a logger has written everything to disk. `unsure`: it did not finish in time, or its state is hidden. */
export async function drain(logger: Logger): Promise<"idle" | "gone" | "unsure"> {
  const deadline = monotonicMs() + SESSION_DRAIN_MAX_MS;
  let woken = false;
  let size = -1;
  let quietMs = monotonicMs();
  for (let checks = 0; monotonicMs() < deadline; checks++) {
    const { state } = logger;
    if (state === "idle" || state === "gone") return state;
    if (state === "stopped" && !woken) {
      // Another process stopped the logger. Continue it only once, because a second stop is probably intended.
      woken = true;
      wake(logger.pid);
    }
    if (state === "hidden") {
      if (logger.size !== size) quietMs = monotonicMs();
      size = logger.size;
      if (monotonicMs() - quietMs > SESSION_DRAIN_IDLE_MS) return "unsure";
    }
    // The logger usually needs only a moment of processor time. Pause between checks, because a busy loop could keep
    // the logger off the processor.
    if (checks > SESSION_DRAIN_BLOCKING_COUNT) await sleep(SESSION_DRAIN_POLL_MS);
    else if (checks > 1) Atomics.wait(NOTHING, 0, 0, SESSION_DRAIN_PAUSE_MS);
  }
  return "unsure";
}

const NOTHING = new Int32Array(new SharedArrayBuffer(4));

function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It has ended.
  }
}
