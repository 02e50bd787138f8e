// Runs command lines of the nacre program for one remote client, in this process: output and exit code travel over the
// channel, and the client's Ctrl-C arrives as a message.
import { EventEmitter } from "node:events";
import { Readable, Writable } from "node:stream";
import { REMOTE_END_MAX_MS, REMOTE_UNWRITTEN_MAX_BYTES } from "../../support/limits.ts";
import { within } from "../../support/timing.ts";
import { type RpcHandler, RpcPeer } from "../channel/rpc-peer.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";

/** The streams and properties of one command line, as the CLI takes them. */
export interface ServedLine {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly cwd: string;
  readonly interactive: boolean;
  readonly colors: { readonly stdout: boolean; readonly stderr: boolean };
  readonly columns: number | undefined;
  /** Emits the signals that the client's process receives. */
  readonly signals: EventEmitter;
}

export type RunLine = (args: readonly string[], io: ServedLine) => Promise<number>;

export function cliEndpoint(runLine: RunLine, deps: EndpointDeps): Endpoint {
  let isAsked = false;
  let wanted = () => {};
  // Ask for input only when the command line reads it: the client's stdin may belong to another program.
  const stdin = new Readable({
    read: () => {
      if (!isAsked) peer.notify("nacre/cli.stdin", {});
      isAsked = true;
      wanted();
    },
  });
  const takeInput = async (data: unknown) => {
    if (stdin.destroyed) return { isOpen: false };
    const isFull = !stdin.push(typeof data === "string" ? Buffer.from(data, "base64") : null);
    if (isFull && typeof data === "string") {
      await new Promise<void>((resolve) => {
        wanted = resolve;
        stdin.once("close", () => resolve());
      });
    }
    return { isOpen: !stdin.destroyed };
  };
  const streams = new Set<Writable>();
  const signals = new EventEmitter();
  const running = new Set<Promise<unknown>>();
  const stream = (name: "stdout" | "stderr") => {
    let unwrittenBytes = 0;
    let proceed = () => {};
    // The client answers when the reader of its stdout has taken the bytes. The rest stays on disk instead of in memory,
    // here and there.
    const send = async (chunk: Buffer) => {
      unwrittenBytes += chunk.length;
      await peer
        .request("nacre/cli.output", { stream: name, data: chunk.toString("base64") })
        .catch(() => {});
      unwrittenBytes -= chunk.length;
      if (unwrittenBytes < REMOTE_UNWRITTEN_MAX_BYTES) proceed();
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        void send(chunk);
        if (unwrittenBytes < REMOTE_UNWRITTEN_MAX_BYTES) return done();
        proceed = () => {
          proceed = () => {};
          done();
        };
      },
    });
  };
  const run = async (params: Readonly<Record<string, unknown>>) => {
    const { argv, interactive, colors, columns } = params;
    const io: ServedLine = {
      stdin,
      stdout: stream("stdout"),
      stderr: stream("stderr"),
      cwd: deps.cwd,
      interactive: interactive === true,
      colors: colors as ServedLine["colors"],
      columns: typeof columns === "number" ? columns : undefined,
      signals,
    };
    streams.add(io.stdout).add(io.stderr);
    const exitCode = await runLine((argv as readonly unknown[]).map(String), io);
    await Promise.all([finished(io.stdout), finished(io.stderr)]);
    return { exitCode };
  };
  const peer = new RpcPeer(
    deps.send,
    new Map<string, RpcHandler>([
      [
        "nacre/cli.run",
        (params) => {
          const work = run(params);
          running.add(work);
          return work.finally(() => running.delete(work));
        },
      ],
      ["nacre/cli.input", ({ data }) => takeInput(data)],
      ["nacre/cli.signal", ({ name }) => void signals.emit("signal", name)],
    ]),
  );
  return {
    take: (message) => peer.take(message),
    end: async (reason) => {
      // The same signal that a closed terminal sends.
      signals.emit("signal", "SIGHUP");
      for (const open of [stdin, ...streams]) open.destroy();
      await within(REMOTE_END_MAX_MS, Promise.allSettled(running));
      peer.fail(reason);
    },
  };
}

function finished(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.end();
  });
}
