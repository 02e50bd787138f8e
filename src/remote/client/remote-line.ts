// Runs a command line of the nacre program at the remote end: its output, its exit code and the signals of this process
// travel over the channel. Ctrl-C travels as a request, because killing the link would not stop the remote command.

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { NacreError } from "../../support/errors.ts";
import { REMOTE_FLOOD_MAX_BYTES } from "../../support/limits.ts";
import { deferred } from "../../support/timing.ts";
import type { RpcHandler } from "../channel/rpc-peer.ts";
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
  /** Resolves with the exit code of the command line. */
  readonly ended: Promise<number>;
  signal(name: NodeJS.Signals): void;
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
    writing = writing.then(async () => {
      await write(target, bytes);
      unwrittenBytes -= bytes.length;
    });
    return writing;
  };
  const peer = new RemotePeer(
    remote,
    { kind: "cli" },
    new Map<string, RpcHandler>([
      ["nacre/cli.output", print],
      ["nacre/cli.stdin", () => void sendInput(peer, io.stdin)],
    ]),
  );
  const run = async () => {
    try {
      const { interactive, colors = { stdout: false, stderr: false }, columns } = io;
      const params = { argv, interactive, colors, columns };
      const asked = peer.request<{ exitCode: number }>("nacre/cli.run", params, { key: newCallKey() });
      const { exitCode } = await Promise.race([asked, flooded.promise]);
      await writing;
      return exitCode;
    } finally {
      io.stdin.destroy();
      await peer.close();
    }
  };
  return {
    ended: run(),
    signal: (name) => void peer.request("nacre/cli.signal", { name }).catch(() => {}),
  };
}

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
    // The link was lost, or stdin closed at the end. The result of the command line reports either.
  }
}

async function write(stream: Writable, bytes: Buffer): Promise<void> {
  if (stream.destroyed || stream.write(bytes)) return;
  await Promise.race([once(stream, "drain"), once(stream, "close")]).catch(() => {});
}
