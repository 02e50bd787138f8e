// The two pipes of a session's bash. Neither has a name, and no command gets a descriptor of them.
//   ScriptChannel  bash reads its script from it, as stdin
//   ReportFifo     bash reports through it: its shim holds the pipe, and bash opens it through the shim for each report
import { closeSync, readlinkSync, readSync, writeSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { openPipe, pipePath, REPORT_FD } from "../engine/process-pipe.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { NacreError } from "../support/errors.ts";
import { SCRIPT_FIFO_BYTES, SCRIPT_RETRY_MS } from "../support/limits.ts";
import { bytesOfText } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";

export class ScriptChannel {
  /** The link of a descriptor of it in /proc. */
  readonly link: string;
  readonly #fd: number;
  #pending: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isEnding = false;
  #isClosed = false;
  #unreadBytes = 0;

  /** Takes the descriptor over. It is open for reading, too: close() reads what bash has not read. */
  constructor(fd: number) {
    this.#fd = fd;
    this.link = readlinkSync(`/proc/self/fd/${fd}`);
  }

  /** Whether everything sent is in the pipe. */
  get isFlushed(): boolean {
    return this.#pending.length === 0;
  }

  /** Bytes that bash had not read when this was closed. If there are any, the last command did not run. */
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

  /** bash has ended. */
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
      // It is empty.
    }
    return length;
  }

  /** A pipe takes at most 64 KiB at a time. */
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

/** Throws if the shim has died: then no process would report the end of its bash, either. */
export function openReports(
  { shimPid, shimStart }: StartedShell,
  onBytes: (bytes: Buffer) => void,
): ReportFifo {
  const fd = openPipe({ pid: shimPid, startTime: shimStart }, REPORT_FD, "both");
  if (fd !== undefined) return new ReportFifo(fd, pipePath(shimPid, REPORT_FD), onBytes);
  throw new NacreError(
    "spawn_failed",
    "The bash of a session was killed before it could begin. Is something killing bash?",
  );
}

export class ReportFifo {
  /** The path that bash opens. */
  readonly path: string;
  readonly #socket: Socket;

  /** The descriptor is open for writing, too: without a writer, reading would end after the first report. */
  constructor(fd: number, path: string, onBytes: (bytes: Buffer) => void) {
    this.path = path;
    const buffer = Buffer.alloc(SCRIPT_FIFO_BYTES);
    // One buffer for all reports: a new one for each would be 64 KiB for the garbage collector.
    const onread: OnReadOpts = {
      buffer,
      callback: (length) => {
        onBytes(Buffer.from(buffer.subarray(0, length)));
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
    // The caller that waits for a command keeps this process alive (event-loop-hold.ts), not this.
    this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }
}
