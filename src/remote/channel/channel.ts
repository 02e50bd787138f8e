// Delivers messages between a client and the daemon in order and exactly once, across any number of connections. A
// frame is one line, `SEQ ACK JSON`: the number of this message, and the number of the last message received from the
// peer. A frame with SEQ 0 contains no message: the frame only acknowledges, and shows that this end is alive.
//
//   send -> #unacked, until the peer acknowledges
//   bind -> resends everything that the peer has not received
//   read -> drops duplicates, delivers the rest
import { NacreError } from "../../support/errors.ts";
import {
  EXCERPT_MAX_CHARS,
  REMOTE_ACK_AFTER_MS,
  REMOTE_ACK_BYTES,
  REMOTE_ACK_FRAMES_COUNT,
} from "../../support/limits.ts";

export type WriteLine = (line: string) => void;

interface Unacked {
  readonly seq: number;
  readonly json: string;
}

export class Channel {
  readonly #deliver: (json: string) => void;
  #unacked: Unacked[] = [];
  #unackedBytes = 0;
  #sent = 0;
  #received = 0;
  #wire: WriteLine | undefined;
  #framesSinceAck = 0;
  #bytesSinceAck = 0;
  #ackTimer: NodeJS.Timeout | undefined;
  readonly #drained: (() => void)[] = [];

  constructor(deliver: (json: string) => void) {
    this.#deliver = deliver;
  }

  /** The number of the last message from the peer. */
  get received(): number {
    return this.#received;
  }

  get isBound(): boolean {
    return this.#wire !== undefined;
  }

  /** Bytes that the peer has not acknowledged. */
  get unackedBytes(): number {
    return this.#unackedBytes;
  }

  /** Sends the message, and stores it until the peer acknowledges it. */
  send(json: string): void {
    this.#sent += 1;
    this.#unacked.push({ seq: this.#sent, json });
    this.#unackedBytes += json.length;
    this.#write(this.#sent, json);
  }

  /** Resolves when fewer than this many bytes are unacknowledged. */
  async drained(maxBytes: number): Promise<void> {
    while (this.#unackedBytes >= maxBytes) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Continues on a new connection. `peerReceived`: the number of the last message that the peer has received. */
  bind(wire: WriteLine, peerReceived: number): void {
    this.#acknowledged(peerReceived);
    this.#wire = wire;
    for (const { seq, json } of this.#unacked) this.#write(seq, json);
  }

  unbind(): void {
    this.#wire = undefined;
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
  }

  /** Throws if the frame is malformed or a message is missing. The caller must then close the connection. */
  read(frame: string): void {
    const first = frame.indexOf(" ");
    const second = frame.indexOf(" ", first + 1);
    const head = second < 0 ? frame : frame.slice(0, second);
    if (!/^\d{1,15} \d{1,15}$/.test(head))
      throw broken(`the frame ${JSON.stringify(head.slice(0, EXCERPT_MAX_CHARS))} is malformed`);
    const seq = Number(head.slice(0, first));
    this.#acknowledged(Number(head.slice(first + 1)));
    // A duplicate: the peer resent it before our acknowledgment arrived.
    if (seq === 0 || seq <= this.#received) return;
    if (seq !== this.#received + 1) throw broken(`message ${seq} follows message ${this.#received}`);
    this.#received = seq;
    const json = frame.slice(second + 1);
    this.#framesSinceAck += 1;
    this.#bytesSinceAck += json.length;
    this.#deliver(json);
    this.#acknowledgeSoon();
  }

  /** Acknowledges, and shows the peer that this end is alive. */
  ping(): void {
    this.#write(0);
  }

  #acknowledgeSoon(): void {
    if (this.#framesSinceAck === 0) return;
    if (this.#framesSinceAck >= REMOTE_ACK_FRAMES_COUNT || this.#bytesSinceAck >= REMOTE_ACK_BYTES)
      this.ping();
    else this.#ackTimer ??= setTimeout(() => this.ping(), REMOTE_ACK_AFTER_MS).unref();
  }

  #acknowledged(seq: number): void {
    if (seq > this.#sent)
      throw broken(`the peer acknowledges message ${seq}, but only ${this.#sent} were sent`);
    let count = 0;
    for (const one of this.#unacked) {
      if (one.seq > seq) break;
      this.#unackedBytes -= one.json.length;
      count += 1;
    }
    if (count === 0) return;
    this.#unacked = this.#unacked.slice(count);
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #write(seq: number, json?: string): void {
    if (!this.#wire) return;
    this.#framesSinceAck = 0;
    this.#bytesSinceAck = 0;
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    this.#wire(json === undefined ? `${seq} ${this.#received}\n` : `${seq} ${this.#received} ${json}\n`);
  }
}

function broken(what: string): NacreError {
  return new NacreError("internal", `The channel is broken: ${what}.`);
}
