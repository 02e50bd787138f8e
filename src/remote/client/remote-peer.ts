// Sends requests to the daemon: combines a RemoteClient and an RpcPeer. A request that the daemon has lost fails with
// `remote_lost`; the next request connects again.
import { randomBytes } from "node:crypto";
import { NacreError } from "../../support/errors.ts";
import { holdEventLoop } from "../../support/event-loop-hold.ts";
import type { Purpose } from "../channel/handshake.ts";
import {
  parseMessage,
  type RequestOptions,
  type RpcHandler,
  type RpcParams,
  RpcPeer,
} from "../channel/rpc-peer.ts";
import type { LinkChange } from "./link-loss.ts";
import { RemoteClient } from "./remote-client.ts";
import type { RemoteOptions } from "./remote-options.ts";

export class RemotePeer {
  readonly client: RemoteClient;
  readonly #peer: RpcPeer;

  constructor(
    remote: RemoteOptions,
    purpose: Purpose,
    handlers: ReadonlyMap<string, RpcHandler>,
    onLink?: (change: LinkChange) => void,
  ) {
    this.client = new RemoteClient({
      remote,
      purpose,
      onMessage: (json) => {
        const message = parseMessage(json);
        if (message) this.#peer.take(message);
      },
      onLost: (error) => this.#peer.fail(error),
      onLink,
    });
    this.#peer = new RpcPeer((message) => this.client.send(JSON.stringify(message)), handlers);
  }

  async request<T>(method: string, params: RpcParams = {}, options: RequestOptions = {}): Promise<T> {
    using _hold = holdEventLoop();
    await this.client.ready();
    return (await this.#peer.request(method, params, options)) as T;
  }

  /**
   * Rejects pending requests, because no answer can arrive any more, and a pending request would keep the process
   * alive.
   */
  async close(): Promise<void> {
    await this.client.close();
    this.#peer.fail(new NacreError("unavailable", "The connection was closed before the answer arrived."));
  }
}

/** A key for one call: the same key never runs twice. */
export function newCallKey(): string {
  return randomBytes(16).toString("hex");
}
