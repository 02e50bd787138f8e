// Reports the last lines of a running command to the host, at most a few times per second and only if there is new
// output.
import { readRange, sizeOf } from "../engine/cursor.ts";
import { PROGRESS_INTERVAL_MS, PROGRESS_LINES_COUNT, PROGRESS_READ_BYTES } from "../support/limits.ts";
import { decodeUtf8, orphanedHeadBytes } from "../text/decode.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { SpoolPart, TextSanitizer } from "./spool-text.ts";

type SpoolStart = Pick<SpoolPart, "path" | "from">;

/** The files that receive the command's output. */
export interface ProgressFiles {
  readonly stdout: SpoolStart;
  readonly stderr: SpoolStart;
}

/** Starts the reports. Returns a function that stops them. */
export function reportProgress(
  { stdout, stderr }: ProgressFiles,
  context: ExecutionContext,
  sanitize: TextSanitizer,
): () => void {
  const { onProgress } = context;
  if (!onProgress) return () => {};
  const parts = [stdout, stderr];
  const seen = new Map(parts.map(({ path, from }) => [path, from]));
  const timer = setInterval(() => {
    const grown = parts.find(({ path, from }) => sizeOf(path) > (seen.get(path) ?? from));
    for (const { path } of parts) seen.set(path, sizeOf(path));
    if (grown) onProgress({ message: lastLines(grown, sanitize) });
  }, PROGRESS_INTERVAL_MS);
  return () => clearInterval(timer);
}

/**
 * The last lines of the output. Sanitizes the text before cutting it: a part of a secret is not recognizable, and
 * some secrets span many lines.
 */
function lastLines({ path, from: start }: SpoolStart, sanitize: TextSanitizer): string {
  const size = sizeOf(path);
  const from = Math.max(start, size - PROGRESS_READ_BYTES);
  const bytes = readRange(path, from, size);
  const whole = decodeUtf8(bytes.subarray(from === start ? 0 : orphanedHeadBytes(bytes)));
  // Drop the first line, which may be incomplete, unless it is the only one.
  const text = sanitize(from === start ? whole : whole.replace(/^[^\n]*\n(?=.)/s, ""));
  return text.replace(/\n$/, "").split("\n").slice(-PROGRESS_LINES_COUNT).join("\n");
}
