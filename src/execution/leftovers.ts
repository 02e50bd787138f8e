// The leftovers of a command: processes that still run after it ended.

import type { KillReport } from "../shell/kill-report.ts";
import { settleLeftovers } from "../shell/settle-leftovers.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { EXCERPT_MAX_CHARS } from "../support/limits.ts";
import { shellQuote } from "../support/shell-quote.ts";
import { firstLine } from "../text/first-line.ts";

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/**
 * Changes a kill report: shows the text of the command for the command's bash, instead of the name of nacre's script.
 */
export function namedReport(report: KillReport, { command: text, started }: ShellProcess): KillReport {
  const short = text.length > EXCERPT_MAX_CHARS ? `${text.slice(0, EXCERPT_MAX_CHARS)}…` : text;
  const command = `bash -c ${shellQuote(short)}`;
  const named = <P extends Leftover>(process: P): P =>
    process.command.endsWith(` ${started.files.command}`) ? { ...process, command } : process;
  return { ...report, signalled: report.signalled.map(named), survivors: report.survivors.map(named) };
}

/** Formats a process as `npm start (pid 123)`. */
export function describeProcess({ pid, command }: Leftover): string {
  return `${firstLine(command)} (pid ${pid})`;
}

export async function leftoversOf(shell: ShellProcess): Promise<Leftover[]> {
  const own = shell.started.files.command;
  const isSubshell = (command: string) => command.includes(own);
  // A subshell keeps the command line of nacre's bash. Any other new child has that command line only until it calls
  // exec.
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
