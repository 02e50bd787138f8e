// `nacre run`: one command in the foreground. Its streams and its exit code pass through; remarks go to stderr.
import { resolve } from "node:path";
import { ShellManager } from "../../shell/shell-manager.ts";
import type { CliIo } from "../cli-io.ts";

export interface RunOptions {
  readonly command: string;
  readonly workingDir: string;
}

/** When no exit code is known: the shell was lost. */
const UNKNOWN_EXIT_CODE = 1;

export async function runCommand(io: CliIo, options: RunOptions): Promise<number> {
  await using manager = new ShellManager({ poolSize: 0 });
  const shell = await manager.createShell({
    command: options.command,
    workingDir: resolve(io.cwd, options.workingDir),
    background: false,
  });
  for await (const { stream, text } of shell.output()) io[stream].write(text);
  for (const remark of shell.remarks) io.stderr.write(`nacre: ${remark}\n`);
  for (const { pid, command } of await shell.leftovers()) {
    io.stderr.write(`nacre: left running, ends now: ${command} (pid ${pid})\n`);
  }
  return shell.exitCode ?? UNKNOWN_EXIT_CODE;
}
