// Live output of one shell: what is there, then what comes, until it ends.
import { Cursor } from "../spool/cursor.ts";
import type { ShellFiles } from "../spool/layout.ts";
import { READ_CHUNK_BYTES, READ_TURN_CHUNKS_COUNT } from "../support/limits.ts";
import { createUtf8Decoder } from "../text/decode.ts";
import { OutputWatch } from "./output-watch.ts";

export type StreamName = "stdout" | "stderr";

export interface OutputPiece {
  readonly stream: StreamName;
  readonly text: string;
}

export interface Followed {
  readonly hasEnded: () => boolean;
  readonly ended: Promise<unknown>;
  /** Where to begin, in bytes. @default 0 */
  readonly from?: Readonly<Record<StreamName, number>>;
}

export async function* followOutput(
  files: ShellFiles,
  { hasEnded, ended, from }: Followed,
): AsyncGenerator<OutputPiece, void, void> {
  const streams = streamsOf(files, from);
  const watch = new OutputWatch(files.dir);
  void ended.then(() => watch.nudge());
  let turns = 0;
  try {
    for (;;) {
      // Asked before reading: what is printed up to the end is on disk when the end is known.
      const last = hasEnded();
      let quiet = true;
      for (const followed of streams) {
        const { text, isNew } = take(followed, last);
        if (isNew) quiet = false;
        if (text !== "") yield { stream: followed.stream, text };
      }
      if (!quiet) {
        // A backlog of gigabytes must not keep others waiting.
        if (++turns % READ_TURN_CHUNKS_COUNT === 0) await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      if (last) return;
      await watch.next();
    }
  } finally {
    watch.close();
  }
}

interface FollowedStream {
  readonly stream: StreamName;
  readonly cursor: Cursor;
  readonly decoder: ReturnType<typeof createUtf8Decoder>;
}

function streamsOf(files: ShellFiles, from?: Readonly<Record<StreamName, number>>): FollowedStream[] {
  return (["stdout", "stderr"] as const).map((stream) => ({
    stream,
    cursor: new Cursor(files[stream], from?.[stream]),
    decoder: createUtf8Decoder(),
  }));
}

function take({ cursor, decoder }: FollowedStream, last: boolean): { text: string; isNew: boolean } {
  const bytes = cursor.peek(READ_CHUNK_BYTES);
  cursor.advance(bytes.length);
  const isNew = bytes.length > 0;
  return { text: decoder.push(bytes) + (last && !isNew ? decoder.end() : ""), isNew };
}
