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
  /** The time for that begins when this is done: a script that pipes in its calls waits for the first start. */
  readonly drainAfter?: () => Promise<unknown>;
  /** Told how many subscriptions of the newer era the other side holds, whenever that changes. */
  readonly onListening?: (count: number) => void;
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
  readonly #drainAfter: () => Promise<unknown>;
  readonly #unanswered = new Set<RequestId>();
  /** Requests that are answered at the very end. */
  readonly #listening = new Set<RequestId>();
  readonly #onListening: (count: number) => void;
  #resolveClosed: () => void = () => {};
  #isClosed = false;
  #inputEnded = false;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(input: Readable, output: Writable, options: LineTransportOptions = {}) {
    this.#in = input;
    this.#out = output;
    this.#splitter = new LineSplitter(options.messageMaxBytes ?? MCP_MESSAGE_MAX_BYTES);
    this.#onListening = options.onListening ?? (() => {});
    this.#drainMaxMs = options.drainMaxMs ?? MCP_DRAIN_MAX_MS;
    this.#drainAfter = options.drainAfter ?? (async () => {});
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
    if (line === undefined) this.#refuse(INVALID_REQUEST, TOO_LARGE, null);
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
    if (!isJsonRpc(value)) {
      this.#refuse(INVALID_REQUEST, "Not a JSON-RPC 2.0 message.", idOf(value));
      return;
    }
    const { method, id, params } = value;
    // The SDK would drop it without a word, and whoever asked would wait for ever.
    if (method !== undefined && !isJSONRPCRequest(value) && !isJSONRPCNotification(value)) {
      this.#refuse(INVALID_REQUEST, MALFORMED, idOf(value));
      return;
    }
    const listens = method === "subscriptions/listen";
    if (method !== undefined && isId(id)) (listens ? this.#listening : this.#unanswered).add(id);
    this.onmessage?.(value as JSONRPCMessage);
    if (listens) this.#onListening(this.#listening.size);
    // Whoever cancels a call does not get an answer to it.
    if (method === "notifications/cancelled" && isId(params?.["requestId"]))
      this.#settle(params["requestId"]);
  }

  // JSON-RPC wants `id: null` where the id is not known; the type of the SDK has no word for that.
  #refuse(code: number, message: string, id: RequestId | null): void {
    this.onerror?.(new Error(message));
    this.#out.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`);
  }

  #settle(id: RequestId): void {
    this.#unanswered.delete(id);
    if (this.#listening.delete(id)) this.#onListening(this.#listening.size);
    if (this.#inputEnded && this.#unanswered.size === 0) void this.close();
  }

  readonly #onEnd = (): void => {
    if (this.#inputEnded) return;
    for (const line of this.#splitter.end()) this.#onLine(line);
    this.#inputEnded = true;
    if (this.#unanswered.size === 0) void this.close();
    else void this.#drain();
  };

  async #drain(): Promise<void> {
    await this.#drainAfter();
    if (!this.#isClosed) this.#drainTimer = setTimeout(() => void this.close(), this.#drainMaxMs);
  }

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

export const TOO_LARGE = `The message is too large: more than ${MCP_MESSAGE_MAX_BYTES / 1024 ** 2} MiB. Write large data to a file in pieces, and name the file.`;

const MALFORMED =
  "Not a request of MCP: it may hold jsonrpc, id (a string or an integer), method and params, and params._meta must be an object.";

interface JsonRpc {
  readonly method?: string;
  readonly id?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Enough to know whom to answer; the SDK looks at the rest. */
function isJsonRpc(value: unknown): value is JsonRpc {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { method, params, id } = value;
  if (params !== undefined && !isObject(params)) return false;
  if (method !== undefined) return typeof method === "string" && (!("id" in value) || isId(id));
  return isObject(value["result"]) || isObject(value["error"]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

function idOf(value: unknown): RequestId | null {
  return isObject(value) && isId(value["id"]) ? value["id"] : null;
}
