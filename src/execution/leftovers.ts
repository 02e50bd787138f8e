// What a command that has ended left running, in words for a reader.

import type { ShellProcess } from "../shell/shell-process.ts";
import { LEFTOVER_GRACE_MS, LEFTOVER_POLL_FIRST_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

export async function leftoversOf(shell: ShellProcess): Promise<Leftover[]> {
  const own = shell.started.files.command;
  const isOurs = (command: string) => command.includes(own);
  let found = await shell.leftovers();
  // A subshell bears our own command line for good, a child that is about to become its program only for a moment.
  for (let pauseMs = LEFTOVER_POLL_FIRST_MS; pauseMs < LEFTOVER_GRACE_MS; pauseMs *= 2) {
    if (!found.some(({ command }) => isOurs(command))) break;
    await sleep(pauseMs);
    found = await shell.leftovers();
  }
  return inWords(found, isOurs);
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
