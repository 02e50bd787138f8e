// Runs one command in the foreground, in a bash of its own: waits its turn, starts it, and comes back when it
// has ended, its time is over or the call was cancelled, whichever is first. What became of it is told by the
// shell itself.
import type { ShellProcess } from "../shell/shell-process.ts";
import { FOREGROUND_PER_SCOPE_MAX_COUNT } from "../support/limits.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./options.ts";
import { reportProgress } from "./progress.ts";
import { polishOf } from "./render.ts";
import { scopeOf } from "./scope.ts";
import { Turns } from "./turns.ts";

export interface ForegroundPlan {
  readonly command: string;
  readonly timeoutMs: number;
}

// Per process, not per tool: two tools of one scope share the machine.
const turns = new Turns(FOREGROUND_PER_SCOPE_MAX_COUNT);

/** stdout and stderr come in their true order, in stdout. */
export async function runForeground(
  { command, timeoutMs }: ForegroundPlan,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<ShellProcess> {
  const leave = await takePlace(context);
  try {
    const shell = await options.manager().createShell({
      command,
      workingDir: context.workingDir,
      scope: scopeOf(context),
      streams: "merged",
      background: false,
      timeoutMs,
      ...(context.env ? { env: context.env } : {}),
    });
    const stopProgress = reportProgress(shell.outputParts, context, polishOf(options));
    try {
      await untilEnd(shell, context.signal);
      return shell;
    } finally {
      stopProgress();
    }
  } finally {
    leave();
  }
}

/** One of the places that a scope has for commands that run at the same time. Returns how to leave it. */
export async function takePlace(context: ExecutionContext): Promise<() => void> {
  const waiting = (before: number) =>
    context.onProgress?.({
      message: `Waiting for a free place: ${FOREGROUND_PER_SCOPE_MAX_COUNT} commands are running, ${before} are before this one.`,
    });
  return await turns.take(scopeOf(context), waiting, context.signal);
}

async function untilEnd(shell: ShellProcess, signal: AbortSignal | undefined): Promise<void> {
  let ending: Promise<unknown> | undefined;
  const cancel = () => {
    // A kill that fails (no file descriptor left, say) leaves the command to its timeout.
    ending = shell.end({ kind: "aborted", detail: "the caller" }).catch(() => {});
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    await shell.look({ exit: true });
    // Its bash is quicker than the last of what it had running.
    await ending;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
