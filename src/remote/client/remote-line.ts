// Runs a command line of the nacre program at the remote end: its output, its exit code and the signals of this process
// travel over the channel. Ctrl-C travels as a request, because killing the link would not stop the remote command.
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { monotonicMs } from "../../support/clock.ts";
import { NacreError } from "../../support/errors.ts";
import { REMOTE_FLOOD_MAX_BYTES, REMOTE_LINK_END_MS, REMOTE_SIGNAL_MAX_MS } from "../../support/limits.ts";
import { deferred, within } from "../../support/timing.ts";
import type { RpcHandler } from "../channel/rpc-peer.ts";
import { describeLinkChange } from "./link-loss.ts";
import type { RemoteOptions } from "./remote-options.ts";
import { newCallKey, RemotePeer } from "./remote-peer.ts";

export interface LineIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly interactive: boolean;
  readonly colors?: { readonly stdout: boolean; readonly stderr: boolean };
  readonly columns?: number | undefined;
}

export interface RemoteLine {
  readonly ended: Promise<RemoteLineEnd>;
  /** Passes a signal of this process on. */
  signal(name: NodeJS.Signals): void;
}

export interface RemoteLineEnd {
  readonly exitCode: number;
  /** Whether a signal ended the command line. If one did, unread output must not keep this process alive. */
  readonly isCut: boolean;
  /** A message for the user about the command at the remote end. */
  readonly remark?: string;
}

export function startRemoteLine(remote: RemoteOptions, argv: readonly string[], io: LineIo): RemoteLine {
  let writing: Promise<unknown> = Promise.resolve();
  let unwrittenBytes = 0;
  const flooded = deferred<never>();
  flooded.promise.catch(() => {});
  const print = ({ stream, data }: Readonly<Record<string, unknown>>) => {
    const target = stream === "stderr" ? io.stderr : io.stdout;
    const bytes = Buffer.from(String(data), "base64");
    unwrittenBytes += bytes.length;
    if (unwrittenBytes > REMOTE_FLOOD_MAX_BYTES) flooded.reject(tooMuchOutput(remote.url));
    const written = writing.then(async () => {
      const isOpen = await write(target, bytes);
      unwrittenBytes -= bytes.length;
      return { isOpen };
    });
    writing = written;
    return written;
  };
  const peer = new RemotePeer(
    remote,
    { kind: "cli" },
    new Map<string, RpcHandler>([
      ["nacre/cli.output", print],
      ["nacre/cli.stdin", () => void sendInput(peer, io.stdin)],
    ]),
    (change) => io.stderr.write(`nacre: ${describeLinkChange(change)}\n`),
  );
  const abandoned = deferred<RemoteLineEnd>();
  /** The first signal that the remote end has not confirmed yet, and the time at which it was sent. */
  let unconfirmed: { readonly name: NodeJS.Signals; readonly sentMs: number } | undefined;
  const signal = (name: NodeJS.Signals) => {
    const { [name]: number } = constants.signals;
    const end = { exitCode: SIGNALED + number, isCut: true };
    if (!peer.client.isKnown) return abandoned.resolve(end);
    if (unconfirmed && monotonicMs() - unconfirmed.sentMs >= REMOTE_SIGNAL_MAX_MS) {
      const remark = `${remote.url} did not confirm ${unconfirmed.name}; the command may still run there`;
      return abandoned.resolve({ ...end, remark });
    }
    unconfirmed ??= { name, sentMs: monotonicMs() };
    const confirm = () => {
      unconfirmed = undefined;
    };
    peer.request("nacre/cli.signal", { name }).then(confirm, () => {});
  };
  const run = async (): Promise<RemoteLineEnd> => {
    let isCut = false;
    try {
      const { interactive, colors = { stdout: false, stderr: false }, columns } = io;
      const params = { argv, interactive, colors, columns };
      const asked = peer.request<RemoteLineEnd>("nacre/cli.run", params, { key: newCallKey() });
      const end = await Promise.race([asked, flooded.promise, abandoned.promise]);
      isCut = end.isCut;
      if (!isCut) await writing;
      return end;
    } finally {
      io.stdin.destroy();
      await (isCut ? within(REMOTE_LINK_END_MS, peer.close()) : peer.close());
    }
  };
  return { ended: run(), signal };
}

/** Shells report 128 plus the signal number as the exit code. */
const SIGNALED = 128;

function tooMuchOutput(url: string): NacreError {
  return new NacreError(
    "remote_lost",
    `The remote end ${url} sends output faster than this process writes it, and does not wait. nacre has closed the connection.`,
  );
}

async function sendInput(peer: RemotePeer, stdin: Readable): Promise<void> {
  try {
    for await (const chunk of stdin) {
      const data = Buffer.from(chunk as Buffer).toString("base64");
      const { isOpen } = await peer.request<{ isOpen: boolean }>("nacre/cli.input", { data });
      if (!isOpen) return;
    }
    await peer.request("nacre/cli.input", { data: null });
  } catch {
    // The link was lost, or stdin was closed at the end. The result of the command line reports both cases.
  }
}

/** Resolves to false if the reader has closed the stream. */
function write(stream: Writable, bytes: Buffer): Promise<boolean> {
  // Node's stdout becomes writable again after an error, but this write reports it.
  return new Promise((resolve) => stream.write(bytes, (error) => resolve(!error)));
}
