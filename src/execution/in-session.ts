// Runs one command in the session of its call: with the state of the calls before it, one at a time. What
// became of it is told by the session.
import type { Session } from "../shell/session.ts";
import type { SessionResult } from "../shell/session-options.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admit.ts";
import { takePlace } from "./foreground.ts";
import type { ResolvedExecutionOptions } from "./options.ts";
import { reportProgress } from "./progress.ts";
import { polishOf } from "./render.ts";
import { scopeOf } from "./scope.ts";

export interface SessionPlan {
  readonly command: string;
  readonly timeoutMs: number;
  readonly onTimeout: "kill" | "background";
  /** Where it was to run when it was admitted. */
  readonly admittedIn: string;
}

export async function runInSession(
  plan: SessionPlan,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<SessionResult> {
  const { command, timeoutMs, onTimeout } = plan;
  let stopProgress = () => {};
  try {
    return await sessionOf(context, options).run(command, {
      timeoutMs,
      onTimeout,
      workingDir: context.workingDir,
      ...(context.env ? { env: context.env } : {}),
      ...(context.signal ? { signal: context.signal } : {}),
      onWait: (before) => context.onProgress?.({ message: waitingWords(before) }),
      onTurn: async (cwd) => {
        // A call before it has moved: what was harmless there may not be so here.
        if (cwd !== plan.admittedIn) await admit(command, context, options, cwd);
        return await takePlace(context);
      },
      onStart: (output) => {
        stopProgress = reportProgress(output, context, polishOf(options));
      },
    });
  } finally {
    stopProgress();
  }
}

/** The session of a call; it is made if there is none. */
export function sessionOf(context: ExecutionContext, options: ResolvedExecutionOptions): Session {
  return options.manager().session(sessionIdOf(context), {
    workingDir: context.workingDir,
    scope: scopeOf(context),
    ...(options.profile === "none" ? {} : { profile: options.profile }),
  });
}

/** Where a call of now would run. Makes nothing. */
export function directoryOf(context: ExecutionContext, options: ResolvedExecutionOptions): string {
  const session = options.manager().findSession(sessionIdOf(context), { scope: scopeOf(context) });
  return session?.directoryFor(context.workingDir) ?? context.workingDir;
}

function sessionIdOf({ sessionId = "default" }: ExecutionContext): string {
  return sessionId;
}

function waitingWords(before: number): string {
  return before === 1
    ? "Waiting for the command before it in this session."
    : `Waiting for ${before} commands before it in this session.`;
}
