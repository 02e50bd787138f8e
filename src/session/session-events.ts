// Reports the start and the end of a session's commands to the listeners of its manager.
import { statusOf } from "../shell/shell-status.ts";
import type { Events } from "../support/events.ts";
import type { SessionResult } from "./session-options.ts";

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
