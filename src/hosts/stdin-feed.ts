// Passes a stream on to a command, through the fifo that the command has as its stdin: only as fast as the
// command reads, and its end is the command's end-of-file.
import { constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { STDIN_RETRY_MS } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

export class StdinFeed {
  readonly path: string;
  readonly #source: Readable;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(path: string, source: Readable) {
    this.path = path;
    this.#source = source;
  }

  /** As soon as the command has opened its side: before that there is nobody to write to (ENXIO). */
  begin(): void {
    if (this.#closed) return;
    let fd: number;
    try {
      fd = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (systemCode(error) === "ENXIO") this.#timer = setTimeout(() => this.begin(), STDIN_RETRY_MS);
      return;
    }
    const socket = new Socket({ fd, readable: false, writable: true });
    // A command need not read to the end (`head -1`); then nobody needs the rest.
    socket.on("error", () => this.#stop());
    this.#socket = socket;
    this.#source.pipe(socket);
  }

  /** The command is over, or there will be none. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#stop();
    try {
      unlinkSync(this.path);
    } catch {
      // The keeper is gone, and everything of it.
    }
  }

  #stop(): void {
    if (this.#socket) this.#source.unpipe(this.#socket);
    this.#source.pause();
    this.#socket?.destroy();
  }
}
