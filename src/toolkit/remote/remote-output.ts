// Reads the output of a run or a shell at the remote end by offset. Returns every byte exactly once, even if the link
// is lost and restored.
import type { RemotePeer } from "../../remote/client/remote-peer.ts";
import {
  decodePieces,
  type OutputBytes,
  type OutputPiece,
  type StreamName,
} from "../../shell/follow-output.ts";
import { REMOTE_READ_MAX_BYTES, REMOTE_READ_WAIT_MS } from "../../support/limits.ts";

/** What to read: the output of a run by its key, or of a shell by its id. */
export type OutputSource = { readonly run: string } | { readonly bash_id: string };

interface ReadAnswer {
  readonly data: string;
  readonly eof: boolean;
}

const STREAMS = ["stdout", "stderr"] as const;

export interface FollowOptions {
  readonly from?: Readonly<Record<StreamName, number>>;
  readonly signal?: AbortSignal | undefined;
}

/** Yields everything printed so far, then new output until the command ends or the signal aborts. */
export async function* followRemote(
  peer: RemotePeer,
  source: OutputSource,
  { from, signal }: FollowOptions = {},
): AsyncGenerator<OutputBytes, void, void> {
  const offsets = { stdout: from?.stdout ?? 0, stderr: from?.stderr ?? 0 };
  const read = async (stream: StreamName) => {
    const params = { ...source, stream, offset: offsets[stream], wait_ms: REMOTE_READ_WAIT_MS };
    return { stream, ...(await peer.request<ReadAnswer>("nacre/output.read", params, { signal })) };
  };
  const reading = new Map(STREAMS.map((stream) => [stream, read(stream)]));
  try {
    while (reading.size > 0 && !signal?.aborted) {
      const { stream, data, eof } = await Promise.race(reading.values());
      const bytes = Buffer.from(data, "base64");
      offsets[stream] += bytes.length;
      if (eof) reading.delete(stream);
      else reading.set(stream, read(stream));
      if (bytes.length > 0) yield { stream, bytes };
    }
  } finally {
    for (const rest of reading.values()) rest.catch(() => {});
  }
}

export function followRemoteText(
  peer: RemotePeer,
  source: OutputSource,
  options?: FollowOptions,
): AsyncGenerator<OutputPiece, void, void> {
  return decodePieces(followRemote(peer, source, options));
}

/** The bytes [from, to) of one stream. */
export async function readRemote(
  peer: RemotePeer,
  source: OutputSource,
  stream: StreamName,
  from: number,
  to: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let offset = from; offset < to; ) {
    const max_bytes = Math.min(REMOTE_READ_MAX_BYTES, to - offset);
    const answer = await peer.request<ReadAnswer>("nacre/output.read", {
      ...source,
      stream,
      offset,
      max_bytes,
    });
    const bytes = Buffer.from(answer.data, "base64");
    if (bytes.length === 0) break;
    parts.push(bytes);
    offset += bytes.length;
  }
  return Buffer.concat(parts);
}
