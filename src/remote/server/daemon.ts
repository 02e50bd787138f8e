// `nacre serve`: one process per build and state root, which serves all remote clients over a socket. It exits when it
// has had no client for a while, or when its state root has been removed.
//
//   connection: relay line -> greeting -> hello -> welcome -> frames (served-client.ts)
import { randomBytes } from "node:crypto";
import { rmSync, statSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { ownBuildHash } from "../../engine/own-build.ts";
import { tryLock, unlock } from "../../engine/process-lock.ts";
import { isSameProcess, thisProcess } from "../../engine/process-table.ts";
import { attempt } from "../../support/attempt.ts";
import { messageOf } from "../../support/errors.ts";
import { REMOTE_HELLO_MAX_MS, REMOTE_IDLE_EXIT_MS, REMOTE_SOCKET_CHECK_MS } from "../../support/limits.ts";
import { deferred } from "../../support/timing.ts";
import { FrameLines } from "../channel/frame-lines.ts";
import {
  type ClientHello,
  formatGreeting,
  formatLine,
  parseLine,
  type RelayLine,
  type Welcome,
} from "../channel/handshake.ts";
import { toWireError } from "../channel/wire-error.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";
import { KeyStore } from "./key-store.ts";
import { type ServePlace, servePlace, withShortPath } from "./serve-place.ts";
import { ServedClient } from "./served-client.ts";

export interface DaemonOptions {
  readonly createEndpoint: (purpose: ClientHello["purpose"], deps: EndpointDeps) => Endpoint;
  /** Ends the daemon with all its clients. */
  readonly signal: AbortSignal;
  /** Keeps the daemon running without clients. Needed if the daemon is the body of a batch job. */
  readonly stays: boolean;
}

/** Returns false if another daemon already serves this build. */
export async function serveDaemon(options: DaemonOptions): Promise<boolean> {
  const place = servePlace(ownBuildHash());
  const owner = {
    self: thisProcess(),
    isAlive: ({ pid, startTime }: { pid: number; startTime: string }) => isSameProcess(pid, startTime),
  };
  if (tryLock(place.lock, owner) !== undefined) return false;
  const daemon = new Daemon(place, options);
  try {
    await daemon.run();
  } finally {
    unlock(place.lock);
  }
  return true;
}

class Daemon {
  readonly #place: ServePlace;
  readonly #options: DaemonOptions;
  readonly #epoch = randomBytes(8).toString("hex");
  readonly #keys = new KeyStore();
  readonly #clients = new Map<string, ServedClient>();
  readonly #ended = deferred();
  readonly #server: Server;
  #idle: NodeJS.Timeout | undefined;
  #socketInode = 0;

  constructor(place: ServePlace, options: DaemonOptions) {
    this.#place = place;
    this.#options = options;
    this.#server = createServer((connection) => this.#accept(connection));
  }

  async run(): Promise<void> {
    const { socket, log } = this.#place;
    rmSync(socket, { force: true });
    await withShortPath(this.#place, (path) => this.#listen(path));
    rmSync(log, { force: true });
    this.#socketInode = statSync(socket).ino;
    const check = setInterval(() => this.#checkSocket(), REMOTE_SOCKET_CHECK_MS);
    this.#waitForClients();
    this.#options.signal.addEventListener("abort", () => this.#ended.resolve(), { once: true });
    await this.#ended.promise;
    clearInterval(check);
    clearTimeout(this.#idle);
    this.#server.close();
    if (this.#isOwnSocket()) rmSync(socket, { force: true });
    await Promise.all([...this.#clients.values()].map((client) => client.end("the daemon ended")));
  }

  async #listen(path: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      // listen() binds the socket before it returns, so this umask makes the socket private from the start. With a
      // chmod after listen(), another user could connect in between.
      const umask = process.umask(0o177);
      this.#server.listen(path, () => resolve());
      process.umask(umask);
    });
  }

  #isOwnSocket(): boolean {
    return attempt(() => statSync(this.#place.socket).ino) === this.#socketInode;
  }

  /** Ends the daemon if its socket is gone, because no new client can then reach it. Known clients may finish first. */
  #checkSocket(): void {
    if (!this.#isOwnSocket() && this.#clients.size === 0) this.#ended.resolve();
  }

  #waitForClients(): void {
    clearTimeout(this.#idle);
    if (this.#clients.size > 0 || this.#options.stays) return;
    this.#idle = setTimeout(() => this.#ended.resolve(), REMOTE_IDLE_EXIT_MS);
  }

  #accept(connection: Socket): void {
    let cwd: string | undefined;
    let client: ServedClient | undefined;
    const late = setTimeout(() => connection.destroy(), REMOTE_HELLO_MAX_MS);
    const lines = new FrameLines((line) => {
      if (client) return client.read(connection, line);
      if (cwd === undefined) {
        cwd = parseLine<RelayLine>("relay", line)?.cwd ?? "/";
        connection.write(formatGreeting({ buildHash: ownBuildHash(), epoch: this.#epoch }));
        return;
      }
      const hello = parseLine<ClientHello>("hello", line);
      if (!hello) return;
      clearTimeout(late);
      client = this.#welcome(connection, hello, cwd);
    });
    connection.on("error", () => {});
    connection.on("data", (chunk) => {
      client?.noteTraffic(connection);
      try {
        lines.push(chunk);
      } catch {
        connection.destroy();
      }
    });
    connection.on("close", () => {
      clearTimeout(late);
      client?.detach(connection);
    });
    connection.on("end", () => connection.end());
  }

  #welcome(connection: Socket, hello: ClientHello, cwd: string): ServedClient | undefined {
    const answer = (welcome: Pick<Welcome, "state" | "received" | "error">) =>
      connection.write(formatLine("welcome", { cwd, pid: process.pid, ...welcome }));
    const known = this.#clients.get(hello.client);
    if (!known && hello.epoch !== null) {
      answer({ state: "lost", received: 0 });
      return undefined;
    }
    if (known) {
      answer({ state: "resumed", received: known.received });
      known.attach(connection, hello);
      return known;
    }
    try {
      const created = this.#create(hello, cwd);
      answer({ state: "new", received: 0 });
      created.attach(connection, hello);
      return created;
    } catch (error) {
      answer({ state: "refused", received: 0, error: toWireError(error) });
      return undefined;
    }
  }

  #create(hello: ClientHello, cwd: string): ServedClient {
    const client = new ServedClient({
      hello,
      cwd,
      keys: this.#keys,
      createEndpoint: (deps) => this.#options.createEndpoint(hello.purpose, deps),
      onEnd: () => {
        this.#clients.delete(hello.client);
        this.#waitForClients();
      },
    });
    this.#clients.set(hello.client, client);
    clearTimeout(this.#idle);
    return client;
  }
}

/** Writes the reason of a failed start to stderr, which is the daemon's log file. */
export function reportDaemonFailure(error: unknown): void {
  process.stderr.write(`${messageOf(error)}\n`);
}
