// Tells a host the last lines of a running command, a few times a second at most, and only while it prints.

import type { ShellProcess } from "../shell/shell-process.ts";
import { readRange, sizeOf } from "../spool/cursor.ts";
import { PROGRESS_INTERVAL_MS, PROGRESS_LINES_COUNT, PROGRESS_READ_BYTES } from "../support/limits.ts";
import { decodeUtf8, orphanedHeadBytes } from "../text/decode.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { Polish } from "./spool-text.ts";

/** Returns how to stop. */
export function reportProgress(shell: ShellProcess, context: ExecutionContext, polish: Polish): () => void {
  const { onProgress } = context;
  if (!onProgress) return () => {};
  const { stdout, stderr } = shell.outputFiles;
  const seen = new Map<string, number>();
  const timer = setInterval(() => {
    const grown = [stdout, stderr].find((path) => sizeOf(path) !== (seen.get(path) ?? 0));
    for (const path of [stdout, stderr]) seen.set(path, sizeOf(path));
    if (grown !== undefined) onProgress({ message: polish(lastLines(grown)) });
  }, PROGRESS_INTERVAL_MS);
  return () => clearInterval(timer);
}

function lastLines(path: string): string {
  const size = sizeOf(path);
  const from = Math.max(0, size - PROGRESS_READ_BYTES);
  const bytes = readRange(path, from, size);
  const whole = decodeUtf8(bytes.subarray(from === 0 ? 0 : orphanedHeadBytes(bytes)));
  // Half a line may be half a secret, which nobody would recognise; an endless line is shown all the same.
  const text = from === 0 ? whole : whole.replace(/^[^\n]*\n(?=.)/s, "");
  return text.replace(/\n$/, "").split("\n").slice(-PROGRESS_LINES_COUNT).join("\n");
}
