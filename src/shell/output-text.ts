// Output files as text: the new part after a cursor, the whole output, and both streams in one string.
import { type Cursor, readRange, sizeOf } from "../engine/cursor.ts";
import { NacreError } from "../support/errors.ts";
import { ALL_OUTPUT_MAX_BYTES, READ_MAX_BYTES } from "../support/limits.ts";
import { decodeUtf8, incompleteTailBytes } from "../text/decode.ts";

/** stdout, then a line [stderr] and stderr, if there is any. */
export function joinStreams(stdout: string, stderr: string): string {
  if (stderr === "") return stdout;
  const gap = stdout === "" || stdout.endsWith("\n") ? "" : "\n";
  return `${stdout}${gap}[stderr]\n${stderr}`;
}

/** Returns the new text after a cursor and moves the cursor to its end. */
export function takeText(cursor: Cursor, ended: boolean): string {
  cursor.settle();
  const bytes = cursor.peek(READ_MAX_BYTES);
  // Leave an incomplete character at the end for the next read.
  const held = ended && bytes.length < READ_MAX_BYTES ? 0 : incompleteTailBytes(bytes);
  cursor.advance(bytes.length - held);
  return decodeUtf8(bytes.subarray(0, bytes.length - held));
}

/** The bytes [from, end) of a file, as text. */
export function readWhole(path: string, from = 0, end = sizeOf(path)): string {
  const size = end - from;
  if (size > ALL_OUTPUT_MAX_BYTES) {
    throw new NacreError(
      "limit_reached",
      `The output has ${size} bytes, too many for one string. Read ${path} in parts.`,
    );
  }
  return decodeUtf8(readRange(path, from, end));
}
