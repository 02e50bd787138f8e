// Passes a stream to a command through the pipe of its stdin, only as fast as the command reads. At the end of the
// stream, the command reads end-of-file.
import { Socket } from "node:net";
import type { Readable } from "node:stream";

export class StdinFeed {
  readonly #source: Readable;
  readonly #socket: Socket;

  /** Takes ownership of the descriptor. */
  constructor(fd: number, source: Readable) {
    this.#source = source;
    this.#socket = new Socket({ fd, readable: false, writable: true });
    // A command may stop reading before the end of the stream, as `head -1` does: drop the rest.
    this.#socket.on("error", () => this.close());
    source.pipe(this.#socket);
  }

  /** Call when the command has ended. */
  close(): void {
    this.#source.unpipe(this.#socket);
    this.#source.pause();
    this.#socket.destroy();
  }
}
