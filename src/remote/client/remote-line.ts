// Runs a command line of the nacre program at the remote end: its output, its exit code and the signals of this process
// travel over the channel. Ctrl-C is a request: killing the link would cancel nothing.

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
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
  const print = ({ stream, data }: Readonly<Record<string, unknown>>) => {
    const target = stream === "stderr" ? io.stderr : io.stdout;
    const bytes = Buffer.from(String(data), "base64");
    writing = writing.then(() => write(target, bytes));
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
      const { exitCode } = await peer.request<{ exitCode: number }>("nacre/cli.run", params, {
        key: newCallKey(),
      });
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

async function sendInput(peer: RemotePeer, stdin: Readable): Promise<void> {
  try {
    for await (const chunk of stdin) {
      const data = Buffer.from(chunk as Buffer).toString("base64");
      const { isOpen } = await peer.request<{ isOpen: boolean }>("nacre/cli.input", { data });
      if (!isOpen) return;
    }
    await peer.request("nacre/cli.input", { data: null });
  } catch {
    // The link is lost, or stdin was closed at the end: the result of the command line reports it.
  }
}

async function write(stream: Writable, bytes: Buffer): Promise<void> {
  if (stream.destroyed || stream.write(bytes)) return;
  await Promise.race([once(stream, "drain"), once(stream, "close")]).catch(() => {});
}
