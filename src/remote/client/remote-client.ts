// The client end of a channel. It reconnects by itself after the link is lost, and reports when it gives up.
//
//   connect -> #attempt             the first connection: if it fails, `ready` fails too
//   the link ends or is silent -> #restore: attempts until the linger is over
//   the remote end breaks the protocol -> the same, but only a few times in a row
//   another epoch, an unknown client, a final error -> #lose: all pending calls are lost, and nothing runs again
import { randomBytes } from "node:crypto";
import { monotonicMs } from "../../support/clock.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import { holdEventLoop } from "../../support/event-loop-hold.ts";
import {
  REMOTE_BACKLOG_MAX_BYTES,
  REMOTE_END_MAX_MS,
  REMOTE_VIOLATIONS_MAX_COUNT,
} from "../../support/limits.ts";
import { type Deferred, deferred, within } from "../../support/timing.ts";
import { Channel } from "../channel/channel.ts";
import {
  type ClientHello,
  formatLine,
  type Purpose,
  readWelcome,
  type Welcome,
} from "../channel/handshake.ts";
import type { Link } from "../links/link.ts";
import { LinkFailure } from "../links/link-failure.ts";
import { parseRemote } from "../links/link-url.ts";
import { type LinkChange, LinkLoss } from "./link-loss.ts";
import { type OpenLink, openLink } from "./open-link.ts";
import { handshakeFailure, RemoteLost } from "./remote-lost.ts";
import { type RemoteOptions, type RemoteTimes, remoteTimes } from "./remote-options.ts";
import { RetryPace } from "./retry-pace.ts";

export interface RemoteClientOptions {
  readonly remote: RemoteOptions;
  readonly purpose: Purpose;
  readonly onMessage: (json: string) => void;
  /**
   * Called when the remote end has lost this client: it will answer no earlier message. The next `ready` connects as a
   * new client.
   */
  readonly onLost: (error: NacreError) => void;
  /** Called when the link has been lost for a while, and when it is restored. @default ignored */
  readonly onLink?: ((change: LinkChange) => void) | undefined;
}

export class RemoteClient {
  readonly #options: RemoteClientOptions;
  readonly #link: Link;
  readonly #times: RemoteTimes;
  #id = newClientId();
  #epoch: string | null = null;
  #channel: Channel;
  #open: OpenLink | undefined;
  #heardMs = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #welcome: Welcome | undefined;
  #connecting: Promise<void> | undefined;
  #bound = deferred();
  #bye: Deferred<void> | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  /** Aborts a connection attempt when this client is closed. */
  readonly #attempts = new AbortController();
  readonly #pace: RetryPace;
  readonly #loss: LinkLoss;
  /** How many links in a row have ended because the remote end broke the protocol. */
  #violations = 0;
  /** The error for a received message that cannot be processed. It is not sent again, so its call has no answer. */
  #unreadable: unknown;

  constructor(options: RemoteClientOptions) {
    this.#options = options;
    this.#link = parseRemote(options.remote.url);
    this.#times = remoteTimes(options.remote);
    this.#pace = new RetryPace(this.#times.retryMaxMs);
    this.#loss = new LinkLoss(this.#link.url, (change) => options.onLink?.(change));
    this.#channel = this.#newChannel();
  }

  /** The directory at the remote end. Known after the first connection. */
  get cwd(): string {
    return this.#welcome?.cwd ?? "/";
  }

  /** Whether the remote end knows this client, even if there is no link now. */
  get isKnown(): boolean {
    return this.#epoch !== null;
  }

  /** The PID of the daemon. @internal */
  get daemonPid(): number | undefined {
    return this.#welcome?.pid;
  }

  /** Connects if the remote end does not know this client: at the first call, and after a loss. */
  async ready(): Promise<void> {
    this.#checkOpen();
    if (this.#epoch !== null) return;
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = undefined;
    });
    using _hold = holdEventLoop();
    await this.#connecting;
    // Check again: if this client was closed while it connected, a request would wait forever.
    this.#checkOpen();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new NacreError("unavailable", `The connection to ${this.#link.url} is closed.`);
  }

  /**
   * Call `ready` first. The message is delivered once, even if the link is lost meanwhile. Throws if the remote end has
   * too many unacknowledged bytes.
   */
  send(json: string): void {
    if (this.#channel.unackedBytes + json.length > REMOTE_BACKLOG_MAX_BYTES) {
      throw new NacreError(
        "limit_reached",
        `The remote end ${this.#link.url} has not received ${this.#channel.unackedBytes} bytes yet: nothing more can be sent to it. Wait until it answers.`,
      );
    }
    this.#channel.send(json);
  }

  /** Ends this client at the remote end, and everything there that is not durable. */
  async close(): Promise<void> {
    // Send `bye` once for all callers: a second call would replace #bye, and the first would miss the answer.
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#epoch !== null) {
      using _hold = holdEventLoop();
      const bye = deferred();
      this.#bye = bye;
      const sayBye = this.#bound.promise.then(() => this.#open?.write("bye\n"));
      await within(REMOTE_END_MAX_MS, Promise.all([sayBye, bye.promise]));
    }
    this.#isClosed = true;
    this.#loss.end();
    this.#attempts.abort();
    this.#detach()?.finish();
  }

  /** Connects: greeting, hello, welcome. Throws if that fails. */
  async #attempt(): Promise<void> {
    const welcomed = deferred<unknown>();
    let current: OpenLink | undefined;
    const onBytes = () => {
      this.#heardMs = monotonicMs();
    };
    const onLine = (line: string) => {
      if (current === undefined) return;
      if (current === this.#open) {
        this.#read(line);
        return;
      }
      const welcome = readWelcome(line);
      if (!welcome) return;
      // Bind here, before the next line of the same chunk: a channel bound later would lose that line.
      if (welcome.state === "new" || welcome.state === "resumed") this.#bind(current, welcome);
      welcomed.resolve(welcome);
    };
    const onEnd = (broken?: unknown) => {
      welcomed.resolve(broken ?? {});
      if (current !== undefined && current === this.#open) this.#onEnd(broken);
    };
    const { connectMaxMs } = this.#times;
    const { signal } = this.#attempts;
    const node = (this.#options.remote.node ?? process.env["NACRE_REMOTE_NODE"]) || undefined;
    const open = await openLink(this.#link, { node, connectMaxMs, signal, onLine, onBytes, onEnd });
    current = open;
    if (this.#epoch !== null && open.greeting.epoch !== this.#epoch) {
      open.close();
      throw new RemoteLost(this.#link.url, "the remote end was restarted");
    }
    open.write(formatLine("hello", this.#hello()));
    const answer = await within(connectMaxMs, welcomed.promise);
    if (current === this.#open) return;
    open.close();
    this.#checkOpen();
    throw handshakeFailure(this.#link.url, answer);
  }

  #bind(open: OpenLink, welcome: Welcome): void {
    if (this.#isClosed) {
      open.close();
      return;
    }
    // bind() throws if the remote end acknowledges messages that were never sent. The link is then unusable.
    this.#channel.bind((line) => open.write(line), welcome.received);
    this.#epoch = open.greeting.epoch;
    if (welcome.state === "new") this.#welcome = welcome;
    this.#open = open;
    this.#pace.bound();
    this.#loss.restored();
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.#beat(open), this.#times.pingMs).unref();
    this.#bound.resolve();
  }

  #hello(): ClientHello {
    const { pingMs, silentMaxMs, lingerMs } = this.#times;
    const { purpose } = this.#options;
    return {
      client: this.#id,
      epoch: this.#epoch,
      received: this.#channel.received,
      pingMs,
      silentMaxMs,
      lingerMs,
      purpose,
    };
  }

  /** Throws if the frame is broken. The next connection resumes after the last message that arrived. */
  #read(line: string): void {
    if (line === "bye") this.#bye?.resolve();
    else this.#channel.read(line);
  }

  #newChannel(): Channel {
    return new Channel((json) => {
      try {
        this.#options.onMessage(json);
      } catch (error) {
        this.#unreadable = error;
        throw error;
      }
    });
  }

  #beat(open: OpenLink): void {
    if (monotonicMs() - this.#heardMs > this.#times.silentMaxMs) open.close();
    else this.#channel.ping();
  }

  #detach(): OpenLink | undefined {
    const open = this.#open;
    this.#open = undefined;
    clearInterval(this.#heartbeat);
    this.#channel.unbind();
    this.#bound = deferred();
    return open;
  }

  #onEnd(broken: unknown): void {
    this.#detach();
    this.#pace.lost();
    if (this.#isClosed || this.#epoch === null) return;
    // Reconnect after a single broken link, because a program may have written into it by accident. Give up if the
    // remote end breaks every link.
    if (this.#pace.heldMs > this.#times.silentMaxMs) this.#violations = 0;
    if (broken !== undefined) this.#violations += 1;
    const isLost = this.#unreadable !== undefined || this.#violations >= REMOTE_VIOLATIONS_MAX_COUNT;
    if (isLost) this.#lose(new RemoteLost(this.#link.url, messageOf(this.#unreadable ?? broken)));
    else {
      this.#loss.lost();
      void this.#restore();
    }
  }

  async #restore(): Promise<void> {
    const deadline = monotonicMs() + this.#times.lingerMs;
    while (!this.#isClosed) {
      await this.#pace.pause();
      try {
        return await this.#attempt();
      } catch (error) {
        if (this.#isClosed) return;
        if (error instanceof RemoteLost) return this.#lose(error);
        const isFinal = error instanceof LinkFailure ? error.isFinal : true;
        if (isFinal || monotonicMs() > deadline)
          return this.#lose(new RemoteLost(this.#link.url, messageOf(error)));
      }
    }
  }

  #lose(error: NacreError): void {
    this.#loss.end();
    this.#epoch = null;
    this.#id = newClientId();
    this.#channel = this.#newChannel();
    this.#violations = 0;
    this.#unreadable = undefined;
    this.#bye?.resolve();
    this.#options.onLost(error);
  }
}

function newClientId(): string {
  return randomBytes(16).toString("hex");
}
