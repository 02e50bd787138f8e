// Runs one foreground command in a separate bash. Waits until fewer commands are running, then starts it. Returns
// when the command has ended by itself, at its timeout, or because the call was cancelled. The shell's outcome shows
// which of these happened.
import type { CreateShellOptions } from "../shell/manager-options.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { Admitted } from "./admission.ts";
import { reportProgress } from "./progress.ts";
import { sanitizerFor } from "./render.ts";
import { startAlone, takePlace } from "./start-command.ts";

export interface ForegroundOptions extends Pick<CreateShellOptions, "stdin" | "timeoutMs"> {
  /** "merged" writes both streams to stdout, in their true order. */
  readonly streams: "split" | "merged";
  readonly onStart?: (shell: ShellProcess) => void;
}

export async function runForeground(
  admitted: Admitted,
  { onStart, ...start }: ForegroundOptions,
): Promise<ShellProcess> {
  const { context, options } = admitted;
  using _place = await takePlace(admitted);
  const shell = await startAlone(admitted, { ...start, background: false });
  onStart?.(shell);
  const stopProgress = reportProgress(shell.outputParts, context, sanitizerFor(options));
  try {
    await untilShellEnd(shell, context.signal);
    return shell;
  } finally {
    stopProgress();
  }
}

/** Waits until the shell ends. Ends it if the call is cancelled. */
export async function untilShellEnd(shell: ShellProcess, signal: AbortSignal | undefined): Promise<void> {
  let ending: Promise<unknown> | undefined;
  const cancel = () => {
    // If the kill fails, for example because no file descriptors are left, the timeout ends the command.
    ending = shell.end({ kind: "aborted", detail: "the caller" }).catch(() => {});
  };
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    await shell.waitUntil({ exit: true });
    // bash can end before the last process of the command does.
    await ending;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}
