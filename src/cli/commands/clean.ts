// `nacre clean`: removes ended shells with their output. Keeps running shells, and ended shells that left processes
// running, because nacre could no longer find these processes without the shell's record.
import { sizeOf } from "../../engine/cursor.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { messageOf } from "../../support/errors.ts";
import { humanizeBytes } from "../../text/snip.ts";
import { counted } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager } from "../find-shell.ts";
import { printJson, remark } from "../print.ts";

export interface CleanOptions {
  /** Only shells that ended at least this many milliseconds ago. */
  readonly olderThan?: number;
  readonly json?: boolean;
}

export async function cleanShells(io: CliIo, { olderThan = 0, json = false }: CleanOptions): Promise<number> {
  const manager = readOnlyManager();
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
      manager.forget(shell, { asSwept: true });
      removed.push(shell.id);
      bytes += size;
    } catch (error) {
      exitCode = EXIT.failed;
      remark(io, `${shell.id} cannot be removed: ${messageOf(error)}`);
    }
  }
  if (json) {
    printJson(io, { removed, kept: kept.map(({ id }) => id), bytes });
    return exitCode;
  }
  io.stdout.write(`Removed ${counted(removed.length, "shell")} and ${humanizeBytes(bytes)} of output\n`);
  for (const { id } of kept)
    remark(io, `${id} has ended and left processes running; end them first: nacre kill ${id}`);
  const running = all.filter(({ isRunning }) => isRunning).length;
  if (running > 0) remark(io, `${counted(running, "shell")} still running, see nacre ps`);
  return exitCode;
}
