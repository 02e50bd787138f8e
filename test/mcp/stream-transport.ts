// The client's end of a pair of streams. It can also send raw lines, and it stores every received line.
import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";

export class StreamTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Every line the server has written, parsed. */
  readonly received: unknown[] = [];
  readonly #in: Readable;
  readonly #out: Writable;
  readonly #buffer = new ReadBuffer();
  #text = "";

  constructor(input: Readable, output: Writable) {
    this.#in = input;
    this.#out = output;
  }

  async start(): Promise<void> {
    this.#in.on("data", (chunk: Buffer) => this.#onData(chunk));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.sendText(serializeMessage(message));
  }

  /** Writes the text unchanged. */
  sendText(text: string): void {
    this.#out.write(text);
  }

  /** Closes the server's input, so that the server reads end-of-file. */
  endInput(): void {
    this.#out.end();
  }

  async close(): Promise<void> {
    this.endInput();
    this.onclose?.();
  }

  #onData(chunk: Buffer): void {
    this.#text += chunk.toString();
    const lines = this.#text.split("\n");
    this.#text = lines.pop() ?? "";
    this.received.push(...lines.map((line) => JSON.parse(line)));
    this.#buffer.append(chunk);
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}
