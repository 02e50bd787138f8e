// A stream of server-sent events. The page reads it with fetch, because EventSource cannot send the token.
import type { ServerResponse } from "node:http";
import { UI_HEARTBEAT_MS, UI_UNSENT_MAX_BYTES } from "../support/limits.ts";
import { SECURITY_HEADERS } from "./page-files.ts";

export class EventStream {
  readonly #response: ServerResponse;
  readonly #ending = new AbortController();
  readonly #heartbeat: NodeJS.Timeout;
  readonly #stop: () => void;

  /** `signal` aborts when the server ends, and closes the stream. */
  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    response.writeHead(200, { ...SECURITY_HEADERS, "Content-Type": "text/event-stream; charset=utf-8" });
    response.write(": connected\n\n");
    this.#heartbeat = setInterval(() => this.#write(": still here\n\n"), UI_HEARTBEAT_MS);
    this.#stop = () => this.close();
    signal.addEventListener("abort", this.#stop, { once: true });
    response.once("close", () => {
      clearInterval(this.#heartbeat);
      signal.removeEventListener("abort", this.#stop);
      this.#ending.abort();
    });
  }

  /** Aborts when the page or the server has closed the stream. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  onEnd(listener: () => void): void {
    if (this.ended.aborted) listener();
    else this.ended.addEventListener("abort", listener, { once: true });
  }

  send(event: string, data: unknown): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  close(): void {
    this.#response.end();
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    this.#response.write(text);
    // A page that does not read must not fill the server's memory: close its stream. The page reconnects later.
    if (this.#response.writableLength > UI_UNSENT_MAX_BYTES) this.#response.destroy();
  }
}
