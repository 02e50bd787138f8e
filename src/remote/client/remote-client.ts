// The client end of a channel. It restores a lost link by itself, and reports what cannot be restored.
//
//   connect  -> #attempt            the first connection: its failure is the result
//   the link ends or is silent -> #restore: attempts until the linger is over
//   another epoch, an unknown client, a final error -> #lose: every call so far is lost, and nothing runs again
import { randomBytes } from "node:crypto";
import { monotonicMs } from "../../support/clock.ts";
import { messageOf, NacreError } from "../../support/errors.ts";
import { holdEventLoop } from "../../support/event-loop-hold.ts";
import { REMOTE_END_MAX_MS, REMOTE_HELLO_MAX_MS, REMOTE_RETRY_MIN_MS } from "../../support/limits.ts";
import { type Deferred, deferred, sleep, within } from "../../support/timing.ts";
import { Channel } from "../channel/channel.ts";
import { type ClientHello, formatLine, type Purpose, parseLine, type Welcome } from "../channel/handshake.ts";
import { fromWireError } from "../channel/wire-error.ts";
import type { Link } from "../links/link.ts";
import { LinkFailure } from "../links/link-failure.ts";
import { parseRemote } from "../links/link-url.ts";
import { type OpenLink, openLink } from "./open-link.ts";
import { type RemoteOptions, type RemoteTimes, remoteTimes } from "./remote-options.ts";

export interface RemoteClientOptions {
  readonly remote: RemoteOptions;
  readonly purpose: Purpose;
  readonly onMessage: (json: string) => void;
  /** The remote end has lost this client: no earlier message will be answered. The next `ready` starts anew. */
  readonly onLost: (error: NacreError) => void;
}

/** Why the calls of a client are lost. */
class RemoteLost extends NacreError {
  constructor(url: string, cause: string) {
    super(
      "remote_lost",
      `The connection to ${url} was lost, and with it the result: ${cause}. The command may have run; nacre does not run it again. Look at the state it left before you repeat it.`,
    );
  }
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

  constructor(options: RemoteClientOptions) {
    this.#options = options;
    this.#link = parseRemote(options.remote.url);
    this.#times = remoteTimes(options.remote);
    this.#channel = new Channel(options.onMessage);
  }

  /** The directory at the remote end. Known after the first connection. */
  get cwd(): string {
    return this.#welcome?.cwd ?? "/";
  }

  /** The PID of the daemon. @internal */
  get daemonPid(): number | undefined {
    return this.#welcome?.pid;
  }

  /** Connects if there is no client at the remote end: at first, and after a loss. */
  async ready(): Promise<void> {
    if (this.#isClosed) throw new NacreError("unavailable", `The connection to ${this.#link.url} is closed.`);
    if (this.#epoch !== null) return;
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = undefined;
    });
    using _hold = holdEventLoop();
    await this.#connecting;
  }

  /** Call `ready` before. The message is delivered once, even if the link is lost meanwhile. */
  send(json: string): void {
    this.#channel.send(json);
  }

  /** Bytes that have not arrived yet. */
  async drained(maxBytes: number): Promise<void> {
    await this.#channel.drained(maxBytes);
  }

  /** Ends this client at the remote end with everything that is not durable. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#epoch !== null) {
      using _hold = holdEventLoop();
      const bye = deferred();
      this.#bye = bye;
      const sayBye = this.#bound.promise.then(() => this.#open?.write("bye\n"));
      await within(REMOTE_END_MAX_MS, Promise.all([sayBye, bye.promise]));
    }
    this.#isClosed = true;
    this.#detach()?.finish();
  }

  /** Starts a connection: greeting, hello, welcome. Throws if there is none. */
  async #attempt(): Promise<void> {
    const welcomed = deferred<Welcome | undefined>();
    let current: OpenLink | undefined;
    const onLine = (line: string) => {
      this.#heardMs = monotonicMs();
      if (current === undefined) return;
      if (current === this.#open) {
        this.#read(line, current);
        return;
      }
      const welcome = parseLine<Welcome>("welcome", line);
      if (!welcome) return;
      // Bind here: the next line can be in the same chunk, and would be lost if the channel were bound later.
      if (welcome.state === "new" || welcome.state === "resumed") this.#bind(current, welcome);
      welcomed.resolve(welcome);
    };
    const onEnd = () => {
      welcomed.resolve(undefined);
      if (current !== undefined && current === this.#open) this.#onEnd();
    };
    const { node = process.env["NACRE_REMOTE_NODE"] } = this.#options.remote;
    const open = await openLink(this.#link, { node: node || undefined, onLine, onEnd });
    current = open;
    if (this.#epoch !== null && open.greeting.epoch !== this.#epoch) {
      open.close();
      throw new RemoteLost(this.#link.url, "the remote end was restarted");
    }
    open.write(formatLine("hello", this.#hello()));
    const welcome = await within(REMOTE_HELLO_MAX_MS, welcomed.promise);
    if (welcome?.state === "new" || welcome?.state === "resumed") return;
    open.close();
    throw this.#refused(welcome);
  }

  #bind(open: OpenLink, welcome: Welcome): void {
    if (this.#isClosed) {
      open.close();
      return;
    }
    this.#epoch = open.greeting.epoch;
    if (welcome.state === "new") this.#welcome = welcome;
    this.#open = open;
    this.#channel.bind((line) => open.write(line), welcome.received);
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.#beat(open), this.#times.pingMs).unref();
    this.#bound.resolve();
  }

  #refused(welcome: Welcome | undefined): NacreError {
    const { url } = this.#link;
    if (welcome?.state === "refused") return fromWireError(welcome.error);
    if (!welcome) return new LinkFailure(`The link to ${url} ended during the handshake.`, false);
    return new RemoteLost(
      url,
      "the remote end has ended this client, because it was without a link for too long",
    );
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

  #read(line: string, open: OpenLink): void {
    if (line === "bye") {
      this.#bye?.resolve();
      return;
    }
    try {
      this.#channel.read(line);
    } catch {
      // The next connection resumes after the last message that arrived.
      open.close();
    }
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

  #onEnd(): void {
    this.#detach();
    if (!this.#isClosed && this.#epoch !== null) void this.#restore();
  }

  async #restore(): Promise<void> {
    const deadline = monotonicMs() + this.#times.lingerMs;
    for (let pauseMs = 0; !this.#isClosed; pauseMs = this.#nextPause(pauseMs)) {
      if (pauseMs > 0) await sleep((pauseMs * (1 + Math.random())) / 2);
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

  #nextPause(pauseMs: number): number {
    return Math.min(this.#times.retryMaxMs, Math.max(REMOTE_RETRY_MIN_MS, pauseMs * 2));
  }

  #lose(error: NacreError): void {
    this.#epoch = null;
    this.#id = newClientId();
    this.#channel = new Channel(this.#options.onMessage);
    this.#bye?.resolve();
    this.#options.onLost(error);
  }
}

function newClientId(): string {
  return randomBytes(16).toString("hex");
}
