// Writing more than a little: as fast as the reader reads, and only while there is one.
import type { Writable } from "node:stream";

/** False if whoever was to read it has gone away. */
export async function write(stream: Writable, bytes: Buffer | string): Promise<boolean> {
  if (isGone(stream)) return false;
  // What is not taken stays in memory: the next piece has to wait.
  if (!stream.write(bytes)) await drained(stream);
  return !isGone(stream);
}

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      for (const event of EVENTS) stream.off(event, settle);
      resolve();
    };
    for (const event of EVENTS) stream.on(event, settle);
  });
}

const EVENTS = ["drain", "error", "close"] as const;

function isGone(stream: Writable): boolean {
  return stream.destroyed || stream.errored !== null;
}
