// Writing more than a little: as fast as the reader reads, and only while there is one.
import type { Writable } from "node:stream";

/** False if the reader has gone away. */
export async function write(stream: Writable, bytes: Buffer | string): Promise<boolean> {
  if (isGone(stream)) return false;
  // What is not taken stays in memory: the next piece has to wait.
  if (!stream.write(bytes)) await drained(stream);
  return !isGone(stream);
}

const gone = new WeakMap<Writable, boolean>();

/** Remembered here: Node's own stdout forgets that it had an error, and offers itself again. */
function isGone(stream: Writable): boolean {
  if (!gone.has(stream)) {
    gone.set(stream, false);
    stream.once("error", () => gone.set(stream, true));
  }
  return stream.destroyed || gone.get(stream) === true;
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
