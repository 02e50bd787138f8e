// Passes a stream on to a command, through the pipe that the command has as its stdin: only as fast as the command
// reads, and its end is the command's end-of-file.
import { Socket } from "node:net";
import type { Readable } from "node:stream";

export class StdinFeed {
  readonly #source: Readable;
  readonly #socket: Socket;

  /** Closes the descriptor at the end. */
  constructor(fd: number, source: Readable) {
    this.#source = source;
    this.#socket = new Socket({ fd, readable: false, writable: true });
    // A command need not read to the end (`head -1`); then nobody needs the rest.
    this.#socket.on("error", () => this.close());
    source.pipe(this.#socket);
  }

  /** The command is over. */
  close(): void {
    this.#source.unpipe(this.#socket);
    this.#source.pause();
    this.#socket.destroy();
  }
}
