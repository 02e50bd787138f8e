// Lets bash check a text that nacre's parser cannot read. `bash -n` reads a script and runs nothing.
import { randomUUID } from "node:crypto";
import { NacreError } from "../support/errors.ts";
import { SYNTAX_CHECK_MAX_MS } from "../support/limits.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

/**
 * The error if bash cannot read the text. Nothing has run. The result of the call shows bash's message as output, and
 * exit code 2.
 */
export class BashSyntaxError extends NacreError {
  static readonly EXIT_CODE = 2;
  static readonly NOTE = "bash cannot read the command: nothing was run.";
  readonly complaint: string;

  constructor(complaint: string) {
    super("exit_nonzero", `${BashSyntaxError.NOTE} ${complaint.trim()}`.trim());
    this.complaint = complaint;
  }
}

/** Throws BashSyntaxError if bash cannot read the command either. */
export async function checkSyntax(
  command: string,
  { workingDir, scope }: { readonly workingDir: string; readonly scope: string },
  options: ResolvedExecutionOptions,
): Promise<void> {
  // Pass the text as a here-document with a delimiter that no text contains by accident. Turn extglob on, because the
  // session or an earlier line may have done so: `bash -n` does not run shopt, so without extglob it would reject
  // text that the session's bash can read.
  const end = `end-${randomUUID()}`;
  const manager = options.manager();
  const shell = await manager.createShell({
    command: `exec "$BASH" -O extglob -n /dev/stdin <<'${end}'\n${command}\n${end}\n`,
    workingDir,
    scope,
    background: false,
    timeoutMs: SYNTAX_CHECK_MAX_MS,
  });
  await shell.waitUntil({ exit: true });
  const { outcome } = shell;
  const complaint = shell.getNewOutput().replace(/^\[stderr\]\n/, "");
  // Forget this shell: the caller did not start it, so lists must not show it.
  manager.forget(shell);
  if (outcome?.kind === "exited" && outcome.code !== 0) {
    throw new BashSyntaxError(complaint.replaceAll("/dev/stdin: line ", "bash: line "));
  }
}
