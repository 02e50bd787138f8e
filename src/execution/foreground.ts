// Runs one command in the foreground: waits its turn, starts it, and comes back when it has ended, its time
// is over or the call was cancelled, whichever is first. What became of it is told by the shell itself.
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
  readonly streams: "split" | "merged";
  readonly onTimeout: "kill" | "background";
}

export interface ForegroundRun {
  readonly shell: ShellProcess;
  /** Its time was over and it goes on without this call. */
  readonly wentOn: boolean;
}

// Per process, not per tool: two tools of one scope share the machine.
const turns = new Turns(FOREGROUND_PER_SCOPE_MAX_COUNT);

export async function runForeground(
  plan: ForegroundPlan,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<ForegroundRun> {
  const scope = scopeOf(context);
  const waiting = (before: number) =>
    context.onProgress?.({
      message: `Waiting for a free place: ${FOREGROUND_PER_SCOPE_MAX_COUNT} commands are running, ${before} are before this one.`,
    });
  const endTurn = await turns.take(scope, waiting, context.signal);
  try {
    const shell = await options.manager().createShell({
      command: plan.command,
      workingDir: context.workingDir,
      scope,
      streams: plan.streams,
      background: false,
      ...(context.env ? { env: context.env } : {}),
      ...(plan.onTimeout === "kill" ? { timeoutMs: plan.timeoutMs } : {}),
    });
    const stopProgress = reportProgress(shell, context, polishOf(options));
    try {
      return { shell, wentOn: await waitForEnd(shell, plan, context.signal) };
    } finally {
      stopProgress();
    }
  } finally {
    endTurn();
  }
}

/** True if it goes on. */
async function waitForEnd(
  shell: ShellProcess,
  { onTimeout, timeoutMs }: ForegroundPlan,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const cancel = () => {
    // A kill that fails (no file descriptor left, say) leaves the command to its timeout.
    shell.end({ kind: "aborted", detail: "the caller" }).catch(() => {});
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const { kind } = await shell.look({ exit: true }, onTimeout === "background" ? timeoutMs : undefined);
    return kind === "expired";
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
