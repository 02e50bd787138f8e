// Copies a part of a file. It may be long: never all of it in memory.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import type { OutputPart } from "../shell/output-part.ts";
import { READ_CHUNK_BYTES } from "../support/limits.ts";

export function copyPart({ path, from, to }: OutputPart, target: string): void {
  const source = openSync(path, "r");
  try {
    const copy = openSync(target, "w", 0o600);
    try {
      const buffer = Buffer.allocUnsafe(Math.min(to - from, 16 * READ_CHUNK_BYTES));
      for (let at = from; at < to; ) {
        const count = readSync(source, buffer, 0, Math.min(buffer.length, to - at), at);
        if (count === 0) break;
        writeSync(copy, buffer, 0, count);
        at += count;
      }
    } finally {
      closeSync(copy);
    }
  } finally {
    closeSync(source);
  }
}
