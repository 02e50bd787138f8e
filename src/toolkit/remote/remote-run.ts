// Runs one command at the remote end, for kit.run and for sessions. The result has the shape of a local result, but its
// paths are paths on the remote machine.
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { SHELL_NAMES } from "../../engine/state-dir.ts";
import type { OutputListener, PendingRun } from "../../execution/live-output.ts";
import type { RunResult } from "../../execution/run-result.ts";
import { newCallKey, type RemotePeer } from "../../remote/client/remote-peer.ts";
import type { StreamName } from "../../shell/follow-output.ts";
import { joinStreams } from "../../shell/output-text.ts";
import { asAborted } from "../../support/abort.ts";
import { messageOf } from "../../support/errors.ts";
import { ALL_OUTPUT_MAX_BYTES, REMOTE_READ_MAX_BYTES } from "../../support/limits.ts";
import { decodeUtf8 } from "../../text/decode.ts";
import type { RunKitOptions } from "../toolkit-options.ts";
import { followRemoteText, readRemote } from "./remote-output.ts";

export interface RemoteRunRequest {
  readonly command: string;
  /** The session to run in. @default a separate bash */
  readonly session?: string;
  /** Additional parameters of the request. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>> & { readonly timeoutMs?: number };
  readonly input?: RunKitOptions["input"];
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: OutputListener | undefined;
}

interface RunAnswer<R> {
  readonly result: R;
  readonly inline?: Readonly<Record<StreamName, string>>;
}

export function remoteRun<R extends RunResult>(peer: RemotePeer, request: RemoteRunRequest): PendingRun<R> {
  const key = newCallKey();
  const pieces = () => followRemoteText(peer, { run: key });
  const run = async (): Promise<R> => {
    const { command, session, input, signal, onOutput, params = {}, options } = request;
    const { timeoutMs } = options;
    const sent = { ...options, ...(timeoutMs === Number.POSITIVE_INFINITY ? { timeoutMs: null } : {}) };
    const hasInput = input !== undefined;
    const asked = peer.request<RunAnswer<R>>(
      "nacre/run",
      { ...params, command, ...(session === undefined ? {} : { session }), hasInput, options: sent },
      { signal, key },
    );
    if (hasInput) void sendInput(peer, key, input);
    const copied = onOutput ? copy(pieces(), onOutput) : undefined;
    const answer = await asked.catch((error: unknown) => {
      throw asAborted(error, signal);
    });
    const failure = await copied;
    const result = await withTexts(peer, key, answer, session !== undefined);
    return failure === undefined ? result : { ...result, notes: [...result.notes, failure] };
  };
  const result = run();
  const iterate = async function* () {
    try {
      yield* pieces();
    } finally {
      // Throw the error of the run, even if reading its output failed earlier for the same reason.
      await result;
    }
  };
  return Object.assign(result, {
    [Symbol.asyncIterator]: () => {
      result.catch(() => {});
      return iterate();
    },
  });
}

async function withTexts<R extends RunResult>(
  peer: RemotePeer,
  key: string,
  { result, inline }: RunAnswer<R>,
  inSession: boolean,
): Promise<R> {
  const notes: string[] = [];
  const text = async (stream: StreamName) => {
    if (inline) return decodeUtf8(Buffer.from(inline[stream], "base64"));
    const { from, to, path } = result.parts[stream];
    const start = Math.max(0, to - from - ALL_OUTPUT_MAX_BYTES);
    if (start > 0)
      notes.push(
        `${stream} has ${to - from} bytes; this is the end of it. All of it is in ${path} at the remote end.`,
      );
    return decodeUtf8(await readRemote(peer, { run: key }, stream, start, to - from));
  };
  const stdout = await text("stdout");
  const printed = await text("stderr");
  const script = `${join(dirname(result.parts.stderr.path), SHELL_NAMES.command)}: `;
  const stderr = inSession ? printed : printed.replaceAll(script, "bash: ");
  const absent = { outcome: result.outcome ?? undefined };
  return {
    ...result,
    ...absent,
    stdout,
    stderr,
    output: joinStreams(stdout, stderr),
    notes: [...result.notes, ...notes],
  };
}

async function sendInput(
  peer: RemotePeer,
  run: string,
  input: NonNullable<RunKitOptions["input"]>,
): Promise<void> {
  const isData = typeof input === "string" || ArrayBuffer.isView(input);
  const stream = isData ? Readable.from(pieces(Buffer.from(input as string))) : input;
  try {
    for await (const chunk of stream) {
      const data = Buffer.from(chunk as Buffer).toString("base64");
      const { isOpen } = await peer.request<{ isOpen: boolean }>("nacre/run.input", { run, data });
      if (!isOpen) return;
    }
    await peer.request("nacre/run.input", { run, data: null });
  } catch {
    // If the caller's stream fails, end the input of the command. If the link is lost, ignore this: the run reports the
    // loss.
    await peer.request("nacre/run.input", { run, data: null }).catch(() => {});
  }
}

function* pieces(bytes: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < bytes.length; at += REMOTE_READ_MAX_BYTES)
    yield bytes.subarray(at, at + REMOTE_READ_MAX_BYTES);
}

/** Returns a note if the listener throws. */
async function copy(
  output: ReturnType<typeof followRemoteText>,
  listener: OutputListener,
): Promise<string | undefined> {
  try {
    for await (const piece of output) await listener(piece);
    return undefined;
  } catch (error) {
    return `The output listener failed: ${messageOf(error)}`;
  }
}
