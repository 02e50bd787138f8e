// Writes with backpressure, and detects that the reader has closed the stream.
import type { Writable } from "node:stream";

/** Resolves to false if the reader has closed the stream. */
export async function write(stream: Writable, bytes: Buffer | string): Promise<boolean> {
  if (isGone(stream)) return false;
  // Wait, so that unread output does not accumulate in memory.
  if (!stream.write(bytes)) await drained(stream);
  return !isGone(stream);
}

const gone = new WeakMap<Writable, boolean>();

/** Tracks errors itself, because Node's stdout becomes writable again after an error. */
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
