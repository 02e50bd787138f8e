// What a manager's listeners are told about its shells and sessions.
import type { Events, NacreEvents } from "../support/events.ts";
import type { KillReport } from "./kill.ts";
import type { SessionResult } from "./session-options.ts";
import type { ShellProcess } from "./shell-process.ts";
import { statusOf } from "./shell-status.ts";

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

/** A command in a session has no id of its own: the session's stands for it. */
export async function tellingOf(
  events: Events,
  session: { readonly id: string; readonly scope: string },
  { command, workingDir }: { readonly command: string; readonly workingDir: string },
  run: () => Promise<SessionResult>,
): Promise<SessionResult> {
  const whose = { id: session.id, scope: session.scope, session: session.id };
  events.emit("start", { ...whose, command, workingDir, durable: false });
  const result = await run();
  // One that goes on in the background ends as that shell.
  if (!result.shell) {
    const { outcome, exitCode, durationMs } = result;
    const signal = outcome && "signal" in outcome ? (outcome.signal ?? null) : null;
    events.emit("end", { ...whose, status: statusOf(outcome), exitCode, signal, durationMs });
  }
  return result;
}

function whoseShell({ scope, started }: ShellProcess): { readonly scope: string; readonly session?: string } {
  const { session } = started.meta;
  return { scope, ...(session === null ? {} : { session }) };
}
