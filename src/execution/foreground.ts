// Runs one command in the foreground, in a bash of its own: waits its turn, starts it, and comes back when it
// has ended, its time is over or the call was cancelled, whichever is first. What became of it is told by the
// shell itself.
import type { ShellProcess } from "../shell/shell-process.ts";
import type { Admitted } from "./admission.ts";
import { reportProgress } from "./progress.ts";
import { polishOf } from "./render.ts";
import { startAlone, takePlace } from "./start-command.ts";

/** stdout and stderr come in their true order, in stdout. */
export async function runForeground(
  admitted: Admitted,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<ShellProcess> {
  const { context, options } = admitted;
  const leave = await takePlace(admitted);
  try {
    const shell = await startAlone(admitted, { streams: "merged", background: false, timeoutMs });
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

async function untilEnd(shell: ShellProcess, signal: AbortSignal | undefined): Promise<void> {
  let ending: Promise<unknown> | undefined;
  const cancel = () => {
    // A kill that fails (no file descriptor left, say) leaves the command to its timeout.
    ending = shell.end({ kind: "aborted", detail: "the caller" }).catch(() => {});
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    await shell.waitUntil({ exit: true });
    // Its bash is quicker than the last of what it had running.
    await ending;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
