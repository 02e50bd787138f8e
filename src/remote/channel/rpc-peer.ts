// Requests and answers (JSON-RPC 2.0) over a channel, in both directions.
import { attempt } from "../../support/attempt.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import { REMOTE_CANCEL_MAX_MS } from "../../support/limits.ts";
import { type Deferred, deferred } from "../../support/timing.ts";
import { fromWireError, toWireError } from "./wire-error.ts";

export interface RpcMessage {
  readonly jsonrpc: "2.0";
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type RpcParams = Readonly<Record<string, unknown>>;
export type RpcHandler = (params: RpcParams, signal: AbortSignal) => unknown;

export interface RequestOptions {
  /** When aborted, sends a cancellation. The request then waits a limited time for its answer. */
  readonly signal?: AbortSignal | undefined;
  /** 32 hexadecimal digits. The daemon runs at most one request with the same key. */
  readonly key?: string;
}

export const KEY_FIELD = "nacre/key";
const CANCELLED = "notifications/cancelled";

export class RpcPeer {
  readonly #send: (message: RpcMessage) => void;
  readonly #handlers: ReadonlyMap<string, RpcHandler>;
  readonly #pending = new Map<number | string, Deferred<unknown>>();
  readonly #running = new Map<number | string, AbortController>();
  #ids = 0;

  readonly #cancelMaxMs: number;

  constructor(
    send: (message: RpcMessage) => void,
    handlers: ReadonlyMap<string, RpcHandler>,
    cancelMaxMs = REMOTE_CANCEL_MAX_MS,
  ) {
    this.#send = send;
    this.#handlers = handlers;
    this.#cancelMaxMs = cancelMaxMs;
  }

  async request(method: string, params: RpcParams, { signal, key }: RequestOptions = {}): Promise<unknown> {
    this.#ids += 1;
    const id = this.#ids;
    const answer = deferred<unknown>();
    this.#pending.set(id, answer);
    let late: NodeJS.Timeout | undefined;
    const cancel = () => {
      late = setTimeout(() => answer.reject(notConfirmed(method, this.#cancelMaxMs)), this.#cancelMaxMs);
      // Catch errors: an exception in an abort listener would crash the process. If the message cannot be sent, the
      // timer still ends the request.
      attempt(() => this.notify(CANCELLED, { requestId: id }));
    };
    try {
      this.#send({
        jsonrpc: "2.0",
        id,
        method,
        params: key === undefined ? params : { ...params, _meta: { [KEY_FIELD]: key } },
      });
      if (signal?.aborted) cancel();
      else signal?.addEventListener("abort", cancel, { once: true });
      return await answer.promise;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener("abort", cancel);
      this.#pending.delete(id);
    }
  }

  notify(method: string, params: RpcParams): void {
    this.#send({ jsonrpc: "2.0", method, params });
  }

  take(message: RpcMessage): void {
    const { id, method, params } = message;
    if (method === undefined) this.#answered(message);
    else if (method === CANCELLED) this.#running.get(Object(params).requestId)?.abort();
    else void this.#serve(id, method, (params ?? {}) as RpcParams);
  }

  /** Rejects every request that waits for an answer, and cancels every request that is being served. */
  fail(error: NacreError): void {
    for (const { reject } of this.#pending.values()) reject(error);
    for (const running of this.#running.values()) running.abort();
  }

  #answered({ id, result, error }: RpcMessage): void {
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(fromWireError(error));
  }

  async #serve(id: number | string | undefined, method: string, params: RpcParams): Promise<void> {
    const handler = this.#handlers.get(method);
    const running = new AbortController();
    if (id !== undefined) this.#running.set(id, running);
    let answer: Pick<RpcMessage, "result" | "error">;
    try {
      if (!handler) throw new NacreError("invalid_input", `There is no method ${method}.`);
      answer = { result: (await handler(params, running.signal)) ?? {} };
    } catch (error) {
      answer = { error: toWireError(error) };
    }
    if (id === undefined) return;
    this.#running.delete(id);
    // If sending throws because too many bytes already wait for the peer, drop the answer.
    attempt(() => this.#send({ jsonrpc: "2.0", id, ...answer }));
  }
}

function notConfirmed(method: string, waitedMs: number): NacreError {
  return new NacreError(
    "remote_lost",
    `The remote end has not confirmed within ${waitedMs}ms that it cancelled ${method}. The command may still run there. Before you repeat it, check what it changed.`,
  );
}

/** Returns undefined for JSON that is not an object. Throws for text that is not JSON. */
export function parseMessage(json: string): RpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as RpcMessage) : undefined;
  } catch (error) {
    throw new NacreError("internal", `The channel carried text that is not JSON: ${messageOf(error)}.`);
  }
}
