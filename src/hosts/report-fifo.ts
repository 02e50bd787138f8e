// The fifo through which a session's bash reports. It is opened by its path for every report: no descriptor
// of it is ever in the hands of a command.
import { constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";

export class ReportFifo {
  readonly path: string;
  readonly #socket: Socket;

  constructor(path: string, onBytes: (bytes: Buffer) => void) {
    this.path = path;
    // For writing, too: without a writer it would end after the first report.
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    this.#socket = new Socket({ fd, readable: true, writable: false });
    this.#socket.on("data", onBytes);
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
