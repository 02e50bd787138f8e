// The pipe through which a session's bash reports. It has no name: the shim of that bash holds it, and bash opens it
// through the shim for every report. No descriptor of it is ever in the hands of a command.
import type { OnReadOpts, SocketConstructorOpts } from "node:net";
import { Socket } from "node:net";
import { SCRIPT_FIFO_BYTES } from "../support/limits.ts";

export class ReportFifo {
  /** As its bash opens it. */
  readonly path: string;
  readonly #socket: Socket;

  /** The descriptor can be written to as well: without a writer it would end after the first report. */
  constructor(fd: number, path: string, onBytes: (bytes: Buffer) => void) {
    this.path = path;
    const buffer = Buffer.alloc(SCRIPT_FIFO_BYTES);
    // One buffer for all: a new one for each report is 64 KiB for the garbage collector.
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
    // Whoever waits for a command keeps the program alive, not this.
    this.#socket.unref();
  }

  close(): void {
    this.#socket.destroy();
  }
}
