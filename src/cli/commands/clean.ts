// `nacre clean`: removes shells that have ended, with their output. What runs is left alone, and so is a shell that
// has left something running: without its record that could not be found any more.

import { sizeOf } from "../../engine/cursor.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { messageOf } from "../../support/errors.ts";
import { humanizeBytes } from "../../text/snip.ts";
import { counted } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { lookAtShells } from "../look.ts";

export interface CleanOptions {
  /** Only those that ended this long ago, in milliseconds. */
  readonly olderThan?: number;
  readonly json?: boolean;
}

export async function cleanShells(io: CliIo, { olderThan = 0, json = false }: CleanOptions): Promise<number> {
  const manager = lookAtShells();
  manager.tidyUp();
  const all = manager.findAll();
  const ended = all.filter(({ endedAgoMs }) => endedAgoMs !== null && endedAgoMs >= olderThan);
  const removed: string[] = [];
  const kept: ShellProcess[] = [];
  let bytes = 0;
  let exitCode: number = EXIT.ok;
  for (const shell of ended) {
    if ((await shell.leftovers()).length > 0) {
      kept.push(shell);
      continue;
    }
    const { stdout, stderr } = shell.outputFiles;
    const size = sizeOf(stdout) + sizeOf(stderr);
    try {
      manager.forget(shell);
      removed.push(shell.id);
      bytes += size;
    } catch (error) {
      exitCode = EXIT.failed;
      io.stderr.write(`nacre: ${shell.id} cannot be removed: ${messageOf(error)}\n`);
    }
  }
  if (json) {
    io.stdout.write(`${JSON.stringify({ removed, kept: kept.map(({ id }) => id), bytes })}\n`);
    return exitCode;
  }
  io.stdout.write(`Removed ${counted(removed.length, "shell")} and ${humanizeBytes(bytes)} of output\n`);
  for (const { id } of kept) {
    io.stderr.write(`nacre: ${id} has ended and left something running; end it first: nacre kill ${id}\n`);
  }
  const running = all.filter(({ isRunning }) => isRunning).length;
  if (running > 0) io.stderr.write(`nacre: ${counted(running, "shell")} still running, see nacre ps\n`);
  return exitCode;
}
