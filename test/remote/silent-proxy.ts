// A proxy that can silence its connections: both ends stay connected, but no more data arrives, as if the network
// dropped every packet.
import { once } from "node:events";
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";

export class SilentProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(target: NetConnectOpts) {
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) =>
      this.#forward(near, target),
    );
  }

  /** `at`: an address, or the path of a socket. */
  static async listen(at: string, target: NetConnectOpts): Promise<SilentProxy> {
    const proxy = new SilentProxy(target);
    if (at.startsWith("/")) proxy.#server.listen(at);
    else proxy.#server.listen(0, at);
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  }

  /** Stops all data on the current connections. New connections work. */
  hush(): void {
    for (const [near, far] of this.#pairs) {
      near.unpipe(far).pause();
      far.unpipe(near).pause();
    }
  }

  /** Closes every connection. */
  drop(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    this.#pairs.clear();
  }

  async end(): Promise<void> {
    this.#server.close();
    this.drop();
    await once(this.#server, "close");
  }

  #forward(near: Socket, target: NetConnectOpts): void {
    const far = connect({ ...target, allowHalfOpen: true });
    for (const socket of [near, far]) socket.on("error", () => {});
    this.#pairs.add([near, far]);
    near.pipe(far);
    far.pipe(near);
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
  }
}
