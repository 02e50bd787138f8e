// The output that is new to a reader, as ranges of the output files. The cursors move synchronously, so that two
// concurrent reads never return the same line.

import { type Cursor, readRange, sizeOf } from "../engine/cursor.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { SCAN_PIECE_BYTES } from "../support/limits.ts";
import type { OutputParts } from "./render.ts";
import type { SpoolPart } from "./spool-text.ts";

const NEWLINE = 0x0a;

/** While the shell runs, takes everything up to the end of the last complete line; after its end, everything. */
export function takeNew(shell: ShellProcess, reader: string, running: boolean): OutputParts {
  const { stdout, stderr } = shell.cursors(reader);
  const files = shell.outputFiles;
  return { stdout: take(stdout, files.stdout, running), stderr: take(stderr, files.stderr, running) };
}

/** One note for each stream whose file was truncated since the last read. */
export function truncationNotes(shell: ShellProcess, reader: string): string[] {
  const cursors = shell.cursors(reader);
  return (["stdout", "stderr"] as const)
    .filter((stream) => cursors[stream].takeTruncation())
    .map(
      (stream) =>
        `The file of ${stream} was truncated by a process: output that you had not read is lost. This is the output since then.`,
    );
}

/** Whether a read would return output while the shell runs. */
export function hasNew(shell: ShellProcess, reader: string): boolean {
  const cursors = shell.cursors(reader);
  return (["stdout", "stderr"] as const).some((stream) => {
    const from = cursors[stream].settle();
    return lastLineEnd(shell.outputFiles[stream], from) > from;
  });
}

function take(cursor: Cursor, path: string, running: boolean): SpoolPart {
  const from = cursor.settle();
  const to = running ? lastLineEnd(path, from) : Math.max(from, sizeOf(path));
  cursor.advance(to - from);
  return { path, from, to };
}

/** The position after the last newline in [from, end of file), or `from`. */
function lastLineEnd(path: string, from: number): number {
  for (let end = sizeOf(path); end > from; ) {
    const start = Math.max(from, end - SCAN_PIECE_BYTES);
    const at = readRange(path, start, end).lastIndexOf(NEWLINE);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return from;
}
