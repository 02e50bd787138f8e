// JSON-RPC, one message a line, over a pair of streams. Unlike the SDK's own transport it answers what it
// cannot read instead of dropping it, outlives a message that is too large, and on end-of-file gives calls
// that are nearly done a moment to be answered.
import type { Readable, Writable } from "node:stream";
import {
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { messageOf } from "../support/errors.ts";
import { MCP_DRAIN_MAX_MS, MCP_MESSAGE_MAX_BYTES } from "../support/limits.ts";
import { LineSplitter } from "./line-splitter.ts";

export interface LineTransportOptions {
  readonly messageMaxBytes?: number;
  /** How long answers may still come after the other side has said its last word. */
  readonly drainMaxMs?: number;
}

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Resolves when nothing comes in or goes out any more. */
  readonly closed: Promise<void>;
  readonly #in: Readable;
  readonly #out: Writable;
  readonly #splitter: LineSplitter;
  readonly #drainMaxMs: number;
  readonly #unanswered = new Set<RequestId>();
  #resolveClosed: () => void = () => {};
  #isClosed = false;
  #inputEnded = false;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(input: Readable, output: Writable, options: LineTransportOptions = {}) {
    this.#in = input;
    this.#out = output;
    this.#splitter = new LineSplitter(options.messageMaxBytes ?? MCP_MESSAGE_MAX_BYTES);
    this.#drainMaxMs = options.drainMaxMs ?? MCP_DRAIN_MAX_MS;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  async start(): Promise<void> {
    this.#in.on("data", this.#onData);
    this.#in.on("end", this.#onEnd);
    this.#in.on("close", this.#onEnd);
    this.#in.on("error", this.#onInputError);
    // Stays on for good: a broken pipe may be reported after the end, and would then end the process.
    this.#out.on("error", this.#onOutputError);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed."));
    const sent = new Promise<void>((resolve, reject) => {
      this.#out.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
    if (!("method" in message) && message.id !== undefined) this.#settle(message.id);
    return sent;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#drainTimer);
    this.#in.off("data", this.#onData);
    this.#in.off("end", this.#onEnd);
    this.#in.off("close", this.#onEnd);
    this.#in.pause();
    this.onclose?.();
    this.#resolveClosed();
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#splitter.push(chunk)) this.#onLine(line);
  };

  #onLine(line: string | undefined): void {
    if (this.#isClosed) return;
    if (line === undefined) this.#refuse(INVALID_REQUEST, "The message is too large.", null);
    else if (line.trim() !== "") this.#take(line);
  }

  #take(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      this.#refuse(PARSE_ERROR, `Not JSON: ${messageOf(error)}`, null);
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.#refuse(INVALID_REQUEST, "Not a JSON-RPC 2.0 message.", idOf(value));
      return;
    }
    if (isJSONRPCRequest(message)) this.#unanswered.add(message.id);
    this.onmessage?.(message);
    // Whoever cancels a call does not get an answer to it.
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") this.#settle(id);
    }
  }

  // JSON-RPC wants `id: null` where the id is not known; the type of the SDK has no word for that.
  #refuse(code: number, message: string, id: RequestId | null): void {
    this.onerror?.(new Error(message));
    this.#out.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }

  #settle(id: RequestId): void {
    this.#unanswered.delete(id);
    if (this.#inputEnded && this.#unanswered.size === 0) void this.close();
  }

  readonly #onEnd = (): void => {
    if (this.#inputEnded) return;
    for (const line of this.#splitter.end()) this.#onLine(line);
    this.#inputEnded = true;
    if (this.#unanswered.size === 0) void this.close();
    else this.#drainTimer = setTimeout(() => void this.close(), this.#drainMaxMs);
  };

  readonly #onInputError = (error: Error): void => {
    this.onerror?.(error);
    void this.close();
  };

  readonly #onOutputError = (error: Error): void => {
    if (this.#isClosed) return;
    this.onerror?.(error);
    void this.close();
  };
}

function idOf(value: unknown): RequestId | null {
  if (typeof value !== "object" || value === null || !("id" in value)) return null;
  return typeof value.id === "string" || typeof value.id === "number" ? value.id : null;
}
