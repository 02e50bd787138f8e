// The leftovers of a command: processes that still run after it ended.

import { settleLeftovers } from "../shell/settle-leftovers.ts";
import type { ShellProcess } from "../shell/shell-process.ts";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/** As `npm start (pid 123)`. */
export function describeProcess({ pid, command }: Leftover): string {
  return `${command} (pid ${pid})`;
}

export async function leftoversOf(shell: ShellProcess): Promise<Leftover[]> {
  const own = shell.started.files.command;
  const isSubshell = (command: string) => command.includes(own);
  // A subshell keeps the command line of nacre's bash. A new child has it only until it runs exec.
  const found = await settleLeftovers(
    () => shell.leftovers(),
    ({ command }) => isSubshell(command),
  );
  return named(found, isSubshell);
}

/** The leftovers of a session. Its subshells have the command line of its bash. */
export function sessionLeftovers(processes: readonly Leftover[]): Leftover[] {
  return named(processes, (command) => command === "bash --noprofile --norc");
}

function named(processes: readonly Leftover[], isSubshell: (command: string) => boolean): Leftover[] {
  return processes.map(({ pid, command }) => ({
    pid,
    command: isSubshell(command) ? "bash (a subshell of the command)" : command,
  }));
}
