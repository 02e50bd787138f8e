// The two pipes of a session's bash. Neither pipe has a name, and no command inherits a descriptor of them.
//   ScriptChannel  bash reads its script from it, as stdin
//   ReportFifo     bash writes its reports to it. The shim holds the pipe open, and bash reopens it through the shim's
//                  /proc entry for each report
//   BashWatchdog   detects a stuck bash: a bash that waits for more script before it has reported the end of its
//                  command. The harness (the script around each command) normally prevents this, but `set -n`,
//                  `enable -n` or a function named `builtin` can disable it. A bash that waits for an ended logger is
//                  stuck, too
import { closeSync, readFileSync, readlinkSync, readSync, writeSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { openPipe, pipePath, REPORT_FD } from "../engine/process-pipe.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import {
  SCRIPT_FIFO_BYTES,
  SCRIPT_RETRY_MS,
  WATCHDOG_CHECKS_COUNT,
  WATCHDOG_EXIT_MS,
  WATCHDOG_FIRST_MS,
  WATCHDOG_INTERVAL_MS,
  WATCHDOG_LOOK_MS,
} from "../support/limits.ts";
import { bytesOfText } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import type { ReportReader } from "./session-reports.ts";

export class ScriptChannel {
  /** What /proc/PID/fd shows for a descriptor of this pipe. */
  readonly link: string;
  readonly #fd: number;
  #pending: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #isClosed = false;
  #unreadBytes = 0;

  /**
   * Takes ownership of the descriptor. The descriptor is also open for reading, so that close() can read back what bash
   * has not read.
   */
  constructor(fd: number) {
    this.#fd = fd;
    this.link = readlinkSync(`/proc/self/fd/${fd}`);
  }

  /** Whether everything sent is in the pipe. */
  get isFlushed(): boolean {
    return this.#pending.length === 0;
  }

  /** Bytes that bash had not read when the channel was closed. If there are any, the last command did not run. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  send(text: string): void {
    if (this.#isClosed) return;
    this.#pending.push(text.isWellFormed() ? Buffer.from(text) : bytesOfText(text));
    if (this.#pending.length === 1) this.#flush();
  }

  /** Ends the script: bash reads what was sent, then end-of-file. */
  end(): void {
    this.#isEnding = true;
    if (this.isFlushed) this.#finish();
  }

  /** Call this when bash has ended. */
  close(): void {
    if (this.#isClosed) return;
    this.#unreadBytes = this.#pending.reduce((sum, { length }) => sum + length, this.#readBack());
    this.#finish();
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#pending = [];
    closeSync(this.#fd);
  }

  /** Empties the pipe and returns how many bytes were in it. */
  #readBack(): number {
    const buffer = Buffer.allocUnsafe(SCRIPT_FIFO_BYTES);
    let length = 0;
    try {
      for (let count = -1; count !== 0; length += count) count = readSync(this.#fd, buffer);
    } catch {
      // The pipe is empty.
    }
    return length;
  }

  /** Writes as much as the pipe accepts. A full pipe (64 KiB) accepts nothing, so this is retried later. */
  #flush(): void {
    for (let next = this.#pending[0]; next; next = this.#pending[0]) {
      const written = this.#write(next);
      if (written < next.length) {
        this.#pending[0] = next.subarray(written);
        this.#timer = setTimeout(() => this.#flush(), SCRIPT_RETRY_MS);
        return;
      }
      this.#pending.shift();
    }
    if (this.#isEnding) this.#finish();
  }

  #write(bytes: Buffer): number {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      if (systemCode(error) === "EAGAIN") return 0;
      throw error;
    }
  }
}

/** Opens the report pipe. Throws if the shim has died, because no other process would report the end of bash. */
export function openReports({ shimPid, shimStart }: StartedShell, reader: ReportReader): ReportFifo {
  const fd = openPipe({ pid: shimPid, startTime: shimStart }, REPORT_FD, "both");
  if (fd !== undefined) return new ReportFifo(fd, pipePath(shimPid, REPORT_FD), reader);
  throw new NacreError(
    "spawn_failed",
    "The bash of a session was killed before it could begin. Stop the program that kills bash, then try again.",
  );
}

export class ReportFifo {
  /** The path that bash opens. */
  readonly path: string;
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #reader: ReportReader;

  /** The descriptor must also be open for writing: otherwise the pipe would have no writer after the first report. */
  constructor(fd: number, path: string, reader: ReportReader) {
    this.path = path;
    this.#fd = fd;
    this.#reader = reader;
    const buffer = Buffer.alloc(SCRIPT_FIFO_BYTES);
    // All reports share one buffer: otherwise each report would leave 64 KiB to the garbage collector.
    const onread: OnReadOpts = {
      buffer,
      callback: (length) => {
        reader.push(buffer, length);
        return true;
      },
    };
    const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
      fd,
      readable: true,
      writable: false,
      onread,
    };
    this.#socket = new Socket(options);
    this.#socket.on("error", () => {});
    // Only a call that waits for a command may keep this process alive (event-loop-hold.ts).
    this.#socket.unref();
  }

  /**
   * Passes on the reports that are still in the pipe: nacre may learn that bash has ended before it has read bash's
   * last reports.
   */
  close(): void {
    if (this.#socket.destroyed) return;
    const buffer = Buffer.alloc(SCRIPT_FIFO_BYTES);
    const length = attempt(() => readSync(this.#fd, buffer)) ?? 0;
    this.#socket.destroy();
    this.#reader.push(buffer, length);
  }
}

export interface WatchedBash {
  readonly pid: number;
  readonly channel: ScriptChannel | undefined;
  /** Whether a logger that bash prints to has ended. */
  readonly isAnyLoggerGone: () => boolean;
  /** Called when bash is stuck. */
  readonly endScript: () => void;
  /** Called if bash has not ended some time after endScript(). */
  readonly kill: () => void;
}

export class BashWatchdog {
  readonly #bash: WatchedBash;
  #isWatching = false;
  #first: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(bash: WatchedBash) {
    this.#bash = bash;
  }

  /** Call this when a command has been sent. */
  start(): void {
    this.#isWatching = true;
    // All commands share one timer, because most commands end long before it fires.
    if (this.#first) {
      this.#first.refresh();
      return;
    }
    this.#first = setTimeout(() => {
      if (this.#isWatching) this.#check(0);
    }, WATCHDOG_FIRST_MS);
    this.#first.unref();
  }

  /** Call this when the command has ended. */
  stop(): void {
    this.#isWatching = false;
    clearTimeout(this.#timer);
  }

  close(): void {
    clearTimeout(this.#first);
  }

  #check(inMs: number, consecutiveStuckChecks = 0): void {
    this.#timer = setTimeout(() => {
      if (!this.#isStuck()) this.#check(WATCHDOG_INTERVAL_MS);
      else if (consecutiveStuckChecks + 1 < WATCHDOG_CHECKS_COUNT)
        this.#check(WATCHDOG_LOOK_MS, consecutiveStuckChecks + 1);
      else this.#giveUp();
    }, inMs);
    this.#timer.unref();
  }

  #isStuck(): boolean {
    const { pid, channel, isAnyLoggerGone } = this.#bash;
    if (!channel?.isFlushed) return false;
    const call = attempt(() => readFileSync(`/proc/${pid}/syscall`, "latin1")) ?? "";
    // bash is in open(). If the logger has ended, open() waits forever for a reader of the logger's pipe.
    if (/^(?:257|56) /.test(call)) return isAnyLoggerGone();
    if (!/^(?:0|63) 0x0 /.test(call)) return false;
    return attempt(() => readlinkSync(`/proc/${pid}/fd/0`)) === channel.link;
  }

  #giveUp(): void {
    this.#bash.endScript();
    this.#timer = setTimeout(this.#bash.kill, WATCHDOG_EXIT_MS);
  }
}
