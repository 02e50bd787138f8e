// The fifo through which a session's bash reports. It is opened by its path for every report: no descriptor
// of it is ever in the hands of a command.
import { constants, openSync, unlinkSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import { SCRIPT_FIFO_BYTES } from "../support/limits.ts";

export class ReportFifo {
  readonly path: string;
  readonly #socket: Socket;

  constructor(path: string, onBytes: (bytes: Buffer) => void) {
    this.path = path;
    // For writing, too: without a writer it would end after the first report.
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
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
    try {
      unlinkSync(this.path);
    } catch {
      // The keeper is gone, and everything of it.
    }
  }
}
