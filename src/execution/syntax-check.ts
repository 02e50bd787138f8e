// What bash itself says about a text that our parser cannot read. `bash -n` reads a script and runs nothing of it.
import { randomUUID } from "node:crypto";
import { NacreError } from "../support/errors.ts";
import { SYNTAX_CHECK_MAX_MS } from "../support/limits.ts";
import { ToolResult } from "../tool/result.ts";
import type { BashMetadata } from "./bash-result.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

/** bash refuses the text: nothing was run, and what it says is the output of exit code 2. */
export class NotBash extends NacreError {
  static readonly EXIT_CODE = 2;
  static readonly NOTE = "bash cannot read the command: nothing was run.";
  readonly complaint: string;

  constructor(complaint: string) {
    super("exit_nonzero", "Command failed with exit code 2");
    this.complaint = complaint;
  }
}

/** As if the command had been run, and bash had said that of it. */
export function resultOfNotBash({ message, code, complaint }: NotBash, asked: Partial<BashMetadata> = {}) {
  return ToolResult.fail<BashMetadata>(message, {
    code,
    output: `[stderr]\n${complaint}`,
    metadata: { ...asked, exit_code: NotBash.EXIT_CODE, truncated: false },
    notes: [NotBash.NOTE],
  });
}

/** Throws NotBash where bash cannot read the command, either. */
export async function checkSyntax(
  command: string,
  { workingDir, scope }: { readonly workingDir: string; readonly scope: string },
  options: ResolvedExecutionOptions,
): Promise<void> {
  // The text goes in as data: the word that ends it cannot be guessed. With extglob, which the session or an earlier
  // line of the text may have set: bash -n runs no shopt, and would refuse a text that bash can read.
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
  // A question of ours, not a run of the caller's.
  manager.forget(shell);
  if (outcome?.kind === "exited" && outcome.code !== 0) {
    throw new NotBash(complaint.replaceAll("/dev/stdin: line ", "bash: line "));
  }
}
