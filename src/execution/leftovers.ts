// What a command that has ended left running, in words for a reader.
import type { ShellProcess } from "../shell/shell-process.ts";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

export async function leftoversOf(shell: ShellProcess): Promise<Leftover[]> {
  const processes = await shell.leftovers();
  // A subshell, or a child that has not become its program yet, still bears our own command line.
  const own = shell.started.files.command;
  return processes.map(({ pid, command }) => ({
    pid,
    command: command.includes(own) ? "bash (a subshell of the command)" : command,
  }));
}
