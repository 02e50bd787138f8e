// One client of the daemon: its channel, its current connection, its linger, and the keys of its calls.
import type { Socket } from "node:net";
import { monotonicMs } from "../../support/clock.ts";
import { NacreError } from "../../support/errors.ts";
import { EXCERPT_MAX_CHARS } from "../../support/limits.ts";
import { Channel } from "../channel/channel.ts";
import type { ClientHello } from "../channel/handshake.ts";
import { KEY_FIELD, parseMessage, type RpcMessage } from "../channel/rpc-peer.ts";
import { toWireError } from "../channel/wire-error.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";
import type { KeyedAnswer, KeyStore } from "./key-store.ts";

export interface ServedClientOptions {
  readonly hello: ClientHello;
  readonly cwd: string;
  readonly keys: KeyStore;
  readonly createEndpoint: (deps: EndpointDeps) => Endpoint;
  /** Called when the client has ended. */
  readonly onEnd: () => void;
}

export class ServedClient {
  readonly #options: ServedClientOptions;
  readonly #channel: Channel;
  readonly #endpoint: Endpoint;
  /** The keys of running requests, by request id. */
  readonly #keyed = new Map<number | string, string>();
  #times: Pick<ClientHello, "pingMs" | "silentMaxMs" | "lingerMs">;
  #connection: Socket | undefined;
  #receivedMs = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #linger: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: ServedClientOptions) {
    this.#options = options;
    this.#times = options.hello;
    this.#channel = new Channel((json) => this.#take(json));
    this.#endpoint = options.createEndpoint({
      cwd: options.cwd,
      send: (message) => this.#send(message),
      drained: (maxBytes) => this.#channel.drained(maxBytes),
      isAttached: () => this.#channel.isBound,
    });
  }

  get received(): number {
    return this.#channel.received;
  }

  /**
   * Continues on a new connection. Destroys the old connection first, because bytes that still arrive on it must be
   * ignored.
   */
  attach(connection: Socket, hello: ClientHello): void {
    this.#connection?.destroy();
    clearTimeout(this.#linger);
    this.#times = hello;
    this.#connection = connection;
    this.#receivedMs = monotonicMs();
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.#beat(connection), hello.pingMs);
    this.#channel.bind((line) => void connection.write(line), hello.received);
  }

  /** Call this when bytes arrive. They prove that the link works, even if a large message takes long to arrive. */
  noteTraffic(connection: Socket): void {
    if (connection === this.#connection) this.#receivedMs = monotonicMs();
  }

  /** Reads one line of a connection. A line that breaks the protocol ends the connection. */
  read(connection: Socket, line: string): void {
    if (connection !== this.#connection) return;
    if (line === "bye") {
      void this.end("the client said goodbye").then(() => connection.end("bye\n"));
      return;
    }
    try {
      this.#channel.read(line);
    } catch {
      connection.destroy();
    }
  }

  /** Call this when the connection has closed. Calls and shells continue until the linger timeout. */
  detach(connection: Socket): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    clearInterval(this.#heartbeat);
    this.#channel.unbind();
    if (this.#ending !== undefined) return;
    this.#linger = setTimeout(() => void this.end("its link was lost for too long"), this.#times.lingerMs);
  }

  async end(why: string): Promise<void> {
    this.#ending ??= this.#end(why);
    await this.#ending;
  }

  async #end(why: string): Promise<void> {
    clearTimeout(this.#linger);
    const reason = new NacreError("remote_lost", `The remote end has ended this client: ${why}.`);
    try {
      await this.#endpoint.end(reason);
    } finally {
      clearInterval(this.#heartbeat);
      for (const key of this.#keyed.values())
        this.#options.keys.settle(key, { error: toWireError(reason) }, 0);
      this.#keyed.clear();
      this.#options.onEnd();
    }
  }

  #beat(connection: Socket): void {
    if (monotonicMs() - this.#receivedMs > this.#times.silentMaxMs) connection.destroy();
    else this.#channel.ping();
  }

  #take(json: string): void {
    const message = parseMessage(json);
    if (!message || this.#ending !== undefined) return;
    const { id, method, params } = message;
    const key = keyOf(message);
    if (method === CANCELLED) this.#cancelled(Object(params).requestId);
    if (id === undefined || key === undefined) {
      this.#endpoint.take(message);
      return;
    }
    const known = /^[0-9a-f]{32}$/.test(key)
      ? this.#options.keys.begin(key, message)
      : Promise.resolve(badKey(key));
    if (!known) {
      this.#keyed.set(id, key);
      this.#endpoint.take(message);
      return;
    }
    void known.then((answer) => this.#channel.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer })));
  }

  /** Settles the key of a cancelled request, because an MCP server does not answer that request. */
  #cancelled(id: number | string): void {
    const key = this.#keyed.get(id);
    if (key === undefined) return;
    const error = toWireError(new NacreError("aborted", "The call was cancelled."));
    this.#keyed.delete(id);
    this.#options.keys.settle(key, { error }, 0);
  }

  #send(message: RpcMessage): void {
    const { id, method, result, error } = message;
    // Without a link, drop progress, because a client that reconnects asks for the current state. Do not drop events
    // (they have other methods): the client's audit log needs them.
    if (method?.startsWith("notifications/") && !this.#channel.isBound) return;
    const json = JSON.stringify(message);
    const key = id === undefined || method !== undefined ? undefined : this.#keyed.get(id);
    if (id !== undefined && key !== undefined) {
      this.#keyed.delete(id);
      this.#options.keys.settle(key, error === undefined ? { result } : { error }, json.length);
    }
    this.#channel.send(json);
  }
}

const CANCELLED = "notifications/cancelled";

function keyOf({ params }: RpcMessage): string | undefined {
  const key: unknown = Object(Object(params)._meta)[KEY_FIELD];
  return key === undefined ? undefined : String(key);
}

function badKey(key: string): KeyedAnswer {
  const shown = JSON.stringify(key.slice(0, EXCERPT_MAX_CHARS));
  return {
    error: toWireError(
      new NacreError(
        "invalid_input",
        `${KEY_FIELD} must be 32 hexadecimal digits, in lower case; it is ${shown}.`,
      ),
    ),
  };
}
