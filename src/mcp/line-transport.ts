// JSON-RPC over a pair of streams, one message per line. Unlike the transport of the SDK, this one answers a message
// that it cannot read instead of dropping it, and survives a message that is too large. After end-of-file, it waits
// briefly for running calls. It also detects a client that has stopped reading.
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
import { monotonicMs } from "../support/clock.ts";
import { messageOf } from "../support/errors.ts";
import { MCP_DRAIN_MAX_MS, MCP_MESSAGE_MAX_BYTES, MCP_UNREAD_MAX_MS } from "../support/limits.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { Scanned } from "./message-scan.ts";
import { OutputQueue } from "./output-queue.ts";

export interface LineTransportOptions {
  readonly messageMaxBytes?: number;
  /** Time for answers after the client closed its side. */
  readonly drainMaxMs?: number;
  /**
   * `drainMaxMs` starts when this promise settles, because calls that a script pipes in must first wait for the
   * keeper.
   */
  readonly drainAfter?: () => Promise<unknown>;
  /** Receives the number of open subscriptions of the newer era, at every change. */
  readonly onListening?: (count: number) => void;
}

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  /** Resolves when the transport is closed. */
  readonly closed: Promise<void>;
  readonly #in: Readable;
  readonly #out: Writable;
  readonly #output: OutputQueue;
  readonly #splitter: LineSplitter;
  readonly #drainMaxMs: number;
  readonly #drainAfter: () => Promise<unknown>;
  readonly #unanswered = new Set<RequestId>();
  /** Subscriptions: requests that stay open until the end. */
  readonly #listening = new Set<RequestId>();
  readonly #onListening: (count: number) => void;
  /** Callbacks for sent answers, by the id of the request. */
  readonly #sent = new Map<RequestId, () => void>();
  #resolveClosed: () => void = () => {};
  #isClosed = false;
  #inputEnded = false;
  /**
   * When the connection began to end (monotonic clock). From then on, the transport drops output that the client does
   * not read.
   */
  #endingMs: number | undefined;
  #drainTimer: NodeJS.Timeout | undefined;

  constructor(input: Readable, output: Writable, options: LineTransportOptions = {}) {
    this.#in = input;
    this.#out = output;
    this.#output = new OutputQueue(output);
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
    // Never remove this listener: Node can report a broken pipe after the end, and an unhandled error would crash the
    // process.
    this.#out.on("error", this.#onOutputError);
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The connection is closed."));
    const sent = this.#output.push(serializeMessage(message));
    if (!("method" in message) && message.id !== undefined) {
      const { id } = message;
      this.#settle(id);
      void sent.then(
        () => this.#sent.get(id)?.(),
        () => {},
      );
    }
    return sent;
  }

  /** Resolves when the stream has accepted the answer to this request. Never resolves if the connection ends first. */
  whenSent(id: RequestId): Promise<void> {
    return new Promise((resolve) => {
      this.#sent.set(id, () => {
        this.#sent.delete(id);
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endingMs ??= monotonicMs();
    clearTimeout(this.#drainTimer);
    this.#in.off("data", this.#onData);
    this.#in.off("end", this.#onEnd);
    this.#in.off("close", this.#onEnd);
    this.#in.pause();
    this.onclose?.();
    this.#resolveClosed();
  }

  /**
   * Call this after close(). Waits while the client reads its output. Returns false if the client stopped reading: the
   * rest of the output is then lost.
   */
  async flush(): Promise<boolean> {
    return await this.#output.flush(MCP_UNREAD_MAX_MS, this.#endingMs ?? monotonicMs());
  }

  readonly #onData = (chunk: Buffer): void => {
    for (const line of this.#splitter.push(chunk)) this.#onLine(line);
  };

  #onLine(line: string | Scanned): void {
    if (this.#isClosed) return;
    if (typeof line !== "string") this.#onTooLarge(line);
    else if (line.trim() !== "") this.#take(line);
  }

  #onTooLarge({ id, isResponse }: Scanned): void {
    if (!isResponse) {
      this.#refuse(INVALID_REQUEST, TOO_LARGE, id);
      return;
    }
    // Do not send the id: it belongs to a request of the server, and the client could mistake it for the id of one of
    // its own requests.
    this.#refuse(INVALID_REQUEST, TOO_LARGE, null);
    const error = { code: INVALID_REQUEST, message: TOO_LARGE };
    if (id !== null) this.onmessage?.({ jsonrpc: "2.0", id, error });
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
      this.#refuse(
        INVALID_REQUEST,
        Array.isArray(value) ? BATCH : "Not a JSON-RPC 2.0 message.",
        idOf(value),
      );
      return;
    }
    const { method, id, params } = value;
    // The SDK would drop the message silently, and the client would wait forever.
    if (method !== undefined && !isJSONRPCRequest(value) && !isJSONRPCNotification(value)) {
      this.#refuse(INVALID_REQUEST, MALFORMED, idOf(value));
      return;
    }
    const listens = method === "subscriptions/listen";
    if (method !== undefined && isId(id)) (listens ? this.#listening : this.#unanswered).add(id);
    this.onmessage?.(value as JSONRPCMessage);
    if (listens) this.#onListening(this.#listening.size);
    // A cancelled call gets no answer.
    if (method === "notifications/cancelled" && isId(params?.["requestId"]))
      this.#settle(params["requestId"]);
  }

  // JSON-RPC requires `id: null` if the id is unknown. The type of the SDK does not allow that.
  #refuse(code: number, message: string, id: RequestId | null): void {
    this.onerror?.(new Error(message));
    const answer = `${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`;
    // Ignore a broken pipe here: the stream reports it as an error.
    this.#output.push(answer).catch(() => {});
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
    this.#endingMs ??= monotonicMs();
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

export const TOO_LARGE = `The message is too large: more than ${MCP_MESSAGE_MAX_BYTES / 1024 ** 2} MiB. Write large data to a file in parts and pass the path of the file.`;

const BATCH = "MCP does not support batches: send each message on its own line.";

const MALFORMED =
  "Not an MCP request: it can have jsonrpc, id (a string or an integer), method and params, and params._meta must be an object.";

interface JsonRpc {
  readonly method?: string;
  readonly id?: unknown;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** Checks only what an answer needs. The SDK checks the rest. */
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
