// The events about the shells of a manager. session/session.ts emits the events about commands of sessions.
import type { NacreEvents } from "../support/events.ts";
import type { KillReport } from "./kill-report.ts";
import type { ShellProcess } from "./shell-process.ts";

export function startOf(shell: ShellProcess): NacreEvents["start"] {
  const { id, command, workingDir, durable } = shell;
  return { id, command, workingDir, durable, ...whoseShell(shell) };
}

export function endOf(shell: ShellProcess): NacreEvents["end"] {
  const { id, status, exitCode, signal, durationMs } = shell;
  return { id, status, exitCode, signal, durationMs, ...whoseShell(shell) };
}

export function killOf(shell: ShellProcess, by: string, report: KillReport): NacreEvents["kill"] {
  const survivors = report.survivors.map(({ pid }) => pid);
  return { id: shell.id, by, signalled: report.signalled.length, survivors, ...whoseShell(shell) };
}

function whoseShell({ scope, started }: ShellProcess): { readonly scope: string; readonly session?: string } {
  const { session } = started.meta;
  return { scope, ...(session === null ? {} : { session }) };
}
