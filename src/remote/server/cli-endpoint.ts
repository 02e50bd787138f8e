// Runs command lines of the nacre program for one remote client, in this process: output and exit code travel over the
// channel, and the client's Ctrl-C arrives as a message.
import { EventEmitter } from "node:events";
import { constants } from "node:os";
import { Readable, Writable } from "node:stream";
import { REMOTE_END_MAX_MS, REMOTE_UNWRITTEN_MAX_BYTES } from "../../support/limits.ts";
import { deferred, within } from "../../support/timing.ts";
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
  /** Aborts when a signal has ended the command line that has no listener for it. */
  readonly stopped: AbortSignal;
}

/** What the client learns about the end of a command line. */
export interface LineEnd {
  readonly exitCode: number;
  /** Whether a signal ended it, as one ends a process: the client does not wait for readers of its output. */
  readonly isCut: boolean;
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
  const stop = new AbortController();
  const cut = deferred<LineEnd>();
  /**
   * Without a listener, a signal ends the command at once, as it ends a process: closes its streams and aborts its work.
   */
  const takeSignal = (name: string) => {
    if (signals.emit("signal", name) || stop.signal.aborted) return;
    // The command may just be starting: its listener gets the signal later.
    signals.on("newListener", (_, listener: (name: string) => void) => queueMicrotask(() => listener(name)));
    const { [name as NodeJS.Signals]: number = constants.signals.SIGTERM } = constants.signals;
    cut.resolve({ exitCode: SIGNALED + number, isCut: true });
    stop.abort();
    for (const open of [stdin, ...streams]) open.destroy();
  };
  const running = new Set<Promise<unknown>>();
  const stream = (name: "stdout" | "stderr") => {
    let unwrittenBytes = 0;
    let proceed = () => {};
    // The client answers when the reader of its stdout has taken the bytes. The rest stays on disk instead of in memory,
    // here and there.
    const send = async (chunk: Buffer) => {
      unwrittenBytes += chunk.length;
      const answer = await peer
        .request("nacre/cli.output", { stream: name, data: chunk.toString("base64") })
        .catch(() => ({ isOpen: true }));
      unwrittenBytes -= chunk.length;
      // The reader has closed the pipe: writers see it as they see EPIPE.
      if (Object(answer).isOpen === false) output.destroy();
      if (unwrittenBytes < REMOTE_UNWRITTEN_MAX_BYTES) proceed();
    };
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        void send(chunk);
        if (unwrittenBytes < REMOTE_UNWRITTEN_MAX_BYTES) return done();
        proceed = () => {
          proceed = () => {};
          done();
        };
      },
    });
    return output;
  };
  const run = async (params: Readonly<Record<string, unknown>>): Promise<LineEnd> => {
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
      stopped: stop.signal,
    };
    streams.add(io.stdout).add(io.stderr);
    const exitCode = await runLine((argv as readonly unknown[]).map(String), io);
    await Promise.all([finished(io.stdout), finished(io.stderr)]);
    return { exitCode, isCut: false };
  };
  const peer = new RpcPeer(
    deps.send,
    new Map<string, RpcHandler>([
      [
        "nacre/cli.run",
        (params) => {
          const work = run(params);
          running.add(work);
          void work.catch(() => {}).then(() => running.delete(work));
          return Promise.race([work, cut.promise]);
        },
      ],
      ["nacre/cli.input", ({ data }) => takeInput(data)],
      ["nacre/cli.signal", ({ name }) => takeSignal(String(name))],
    ]),
  );
  return {
    take: (message) => peer.take(message),
    end: async (reason) => {
      // The same signal that a closed terminal sends.
      takeSignal("SIGHUP");
      for (const open of [stdin, ...streams]) open.destroy();
      await within(REMOTE_END_MAX_MS, Promise.allSettled(running));
      peer.fail(reason);
    },
  };
}

/** Shells report 128 and the number of the signal. */
const SIGNALED = 128;

function finished(stream: Writable): Promise<void> {
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.end();
  });
}
