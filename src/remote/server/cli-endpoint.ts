// Runs command lines of the nacre program for one remote client, inside the daemon's process. Output and exit code are
// sent over the channel, and the client's Ctrl-C arrives as a message.
import { EventEmitter } from "node:events";
import { constants } from "node:os";
import { Readable, Writable } from "node:stream";
import { REMOTE_END_MAX_MS, REMOTE_UNWRITTEN_MAX_BYTES } from "../../support/limits.ts";
import { deferred, within } from "../../support/timing.ts";
import { type RpcHandler, RpcPeer } from "../channel/rpc-peer.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";

/** The streams and properties of one command line, in the form that the CLI expects. */
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
  /** Aborted when a signal ends the command line because no listener handles it. */
  readonly stopped: AbortSignal;
}

/** How a command line ended, as the client receives it. */
export interface LineEnd {
  readonly exitCode: number;
  /** Whether a signal ended the command line. If one did, the client does not wait until the output is read. */
  readonly isCut: boolean;
}

export type RunLine = (args: readonly string[], io: ServedLine) => Promise<number>;

export function cliEndpoint(runLine: RunLine, deps: EndpointDeps): Endpoint {
  let isAsked = false;
  let wanted = () => {};
  // Request input only when the command line reads it: the client's stdin may belong to another program.
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
   * Without a listener, a signal ends the command line at once, as it would end a process: the streams are closed, and
   * the work is aborted.
   */
  const takeSignal = (name: string) => {
    if (signals.emit("signal", name) || stop.signal.aborted) return;
    // A command line that is starting has no listener yet: deliver the signal when it adds one.
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
    // The client answers when it has written the bytes to its stdout. Until then, more output stays on disk and uses no
    // memory at either end.
    const send = async (chunk: Buffer) => {
      unwrittenBytes += chunk.length;
      const answer = await peer
        .request("nacre/cli.output", { stream: name, data: chunk.toString("base64") })
        .catch(() => ({ isOpen: true }));
      unwrittenBytes -= chunk.length;
      // The program that reads the client's output has closed its pipe. Destroy the stream here too, so that writers
      // notice it, as they would with EPIPE.
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
      // End the command line with the signal that a closed terminal would send.
      takeSignal("SIGHUP");
      for (const open of [stdin, ...streams]) open.destroy();
      await within(REMOTE_END_MAX_MS, Promise.allSettled(running));
      peer.fail(reason);
    },
  };
}

/** Shells report 128 plus the signal number as the exit code. */
const SIGNALED = 128;

function finished(stream: Writable): Promise<void> {
  if (stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.end();
  });
}
