// The pipe a session's bash reads its script from. It has no name: the host opened it through the process that reads it,
// and holds it open, so that it does not end between two commands.

import { closeSync, readlinkSync, readSync, writeSync } from "node:fs";
import { SCRIPT_FIFO_BYTES, SCRIPT_RETRY_MS } from "../support/limits.ts";
import { bytesOfText } from "../support/path-text.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { systemCode } from "../support/system-error.ts";

/** What lists of shells show for a bash of a session. */
export function sessionTitle(name: string | null): string {
  return `# session ${JSON.stringify(name ?? "")}`;
}

/** What the bash of a slot runs for a session: it becomes one that reads its script from its stdin. */
export function sessionProgram(bashPath: string, name: string | null): string {
  return `${sessionTitle(name)}\nexec -a bash ${shellQuote(bashPath)} --noprofile --norc\n`;
}

export class ScriptChannel {
  /** What a descriptor of it looks like in /proc. */
  readonly link: string;
  readonly #fd: number;
  #pending: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ending = false;
  #closed = false;
  #unreadBytes = 0;

  /** The descriptor can be read from as well, for what its bash has not read. Closed with this. */
  constructor(fd: number) {
    this.#fd = fd;
    this.link = readlinkSync(`/proc/self/fd/${fd}`);
  }

  /** Whether all that was sent is in the pipe. */
  get isFlushed(): boolean {
    return this.#pending.length === 0;
  }

  /** Once closed: what bash had not read. If there is any, the last command was not run. */
  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  send(text: string): void {
    if (this.#closed) return;
    this.#pending.push(bytesOfText(text));
    if (this.#pending.length === 1) this.#flush();
  }

  /** The end of the script: bash reads what was sent, and then that there is no more. */
  end(): void {
    this.#ending = true;
    if (this.isFlushed) this.#finish();
  }

  /** Its bash is over. */
  close(): void {
    if (this.#closed) return;
    this.#unreadBytes = this.#pending.reduce((sum, { length }) => sum + length, this.#takeBack());
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#pending = [];
    closeSync(this.#fd);
  }

  /** How much there was in the pipe. */
  #takeBack(): number {
    const buffer = Buffer.allocUnsafe(SCRIPT_FIFO_BYTES);
    let length = 0;
    try {
      for (let count = -1; count !== 0; length += count) count = readSync(this.#fd, buffer);
    } catch {
      // It is empty.
    }
    return length;
  }

  /** A pipe takes 64 KiB at a time at most. */
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
    if (this.#ending) this.#finish();
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
