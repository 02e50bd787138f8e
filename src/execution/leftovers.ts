// What a command that has ended left running, in words for a reader.
import type { ShellProcess } from "../shell/shell-process.ts";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

export async function leftoversOf(shell: ShellProcess): Promise<Leftover[]> {
  // A subshell, or a child that has not become its program yet, still bears our own command line.
  const own = shell.started.files.command;
  return inWords(await shell.leftovers(), (command) => command.includes(own));
}

/** Those of a session, whose subshells are called as its bash is. */
export function sessionLeftovers(processes: readonly Leftover[]): Leftover[] {
  return inWords(processes, (command) => command === "bash --noprofile --norc");
}

function inWords(processes: readonly Leftover[], isOurs: (command: string) => boolean): Leftover[] {
  return processes.map(({ pid, command }) => ({
    pid,
    command: isOurs(command) ? "bash (a subshell of the command)" : command,
  }));
}
