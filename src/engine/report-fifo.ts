// The pipe through which a session's bash reports. It has no name: the shim of that bash holds it, and bash opens it
// through the shim for every report. No command ever gets a descriptor of it.
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { NacreError } from "../support/errors.ts";
import { SCRIPT_FIFO_BYTES } from "../support/limits.ts";
import { openPipe, pipePath, REPORT_FD } from "./process-pipe.ts";
import type { StartedShell } from "./started-shell.ts";

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
  /** The path that its bash opens. */
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
    // The caller that waits for a command keeps the program alive (event-loop-hold.ts), not this.
    this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }
}
