// Stores the results of calls by key. A call never runs twice: a second request with the same key gets the result of
// the first, even if the second comes from another client or arrives while the first call is still running. The number
// of stored results is limited. After the daemon drops a result, it still remembers that the call ran.
import { createHash } from "node:crypto";
import { NacreError } from "../../support/errors.ts";
import {
  REMOTE_FORGOTTEN_KEYS_MAX_COUNT,
  REMOTE_KEYS_MAX_BYTES,
  REMOTE_KEYS_MAX_COUNT,
} from "../../support/limits.ts";
import { type Deferred, deferred } from "../../support/timing.ts";
import type { RpcMessage } from "../channel/rpc-peer.ts";
import { toWireError } from "../channel/wire-error.ts";

export type KeyedAnswer = Pick<RpcMessage, "result" | "error">;

interface KeptCall {
  readonly digest: string;
  readonly answer: Deferred<KeyedAnswer>;
  bytes: number;
  isSettled: boolean;
}

export class KeyStore {
  readonly #calls = new Map<string, KeptCall>();
  readonly #forgotten = new Set<string>();
  #bytes = 0;

  /**
   * Returns undefined for a new key. The caller must then run the call and settle the key. For a known key, returns the
   * answer of the first call.
   */
  begin(key: string, request: RpcMessage): Promise<KeyedAnswer> | undefined {
    const digest = digestOf(request);
    const known = this.#calls.get(key);
    if (known && known.digest !== digest) return Promise.resolve({ error: toWireError(otherCall(key)) });
    if (known) return known.answer.promise;
    if (this.#forgotten.has(key)) return Promise.resolve({ error: toWireError(droppedResult(key)) });
    this.#calls.set(key, { digest, answer: deferred(), bytes: 0, isSettled: false });
    return undefined;
  }

  settle(key: string, answer: KeyedAnswer, bytes: number): void {
    const call = this.#calls.get(key);
    if (!call || call.isSettled) return;
    call.isSettled = true;
    call.bytes = bytes;
    this.#bytes += bytes;
    call.answer.resolve(answer);
    this.#drop();
  }

  /** Drops the oldest results above the limits. Calls that are still running stay. */
  #drop(): void {
    for (const [key, { isSettled, bytes }] of this.#calls) {
      if (this.#calls.size <= REMOTE_KEYS_MAX_COUNT && this.#bytes <= REMOTE_KEYS_MAX_BYTES) return;
      if (!isSettled) continue;
      this.#calls.delete(key);
      this.#bytes -= bytes;
      this.#forgotten.add(key);
      const [oldest] = this.#forgotten;
      if (this.#forgotten.size > REMOTE_FORGOTTEN_KEYS_MAX_COUNT && oldest !== undefined)
        this.#forgotten.delete(oldest);
    }
  }
}

/** Hashes the method and its parameters. Skips the metadata, because it differs between attempts. */
function digestOf({ method, params }: RpcMessage): string {
  const { _meta: _, ...rest } = Object(params) as Record<string, unknown>;
  return createHash("sha256")
    .update(JSON.stringify([method, rest]))
    .digest("hex");
}

function otherCall(key: string): NacreError {
  return new NacreError(
    "invalid_input",
    `The key ${key} belongs to another call: use a new key for each call.`,
  );
}

function droppedResult(key: string): NacreError {
  return new NacreError(
    "remote_lost",
    `The call with the key ${key} ran, but its result is not kept any more: the remote end keeps the last ${REMOTE_KEYS_MAX_COUNT} results. Before you repeat the call with a new key, check what the first call changed.`,
  );
}
