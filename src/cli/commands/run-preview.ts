// `nacre run --preview`: runs the command in a preview. Passes its output through, and lists its changes on stderr.
// With --json, prints the output and the changes as one object to stdout. Exits with the command's exit code.
import type { Admitted } from "../../execution/admission.ts";
import { failureText } from "../../execution/endings.ts";
import { ownScriptParts } from "../../execution/own-script.ts";
import { previewLines, previewResult } from "../../execution/preview-result.ts";
import { type PreviewedCommand, runPreview } from "../../execution/preview-run.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { ShellManager } from "../../shell-manager.ts";
import { DEFAULT_TIMEOUT_MS } from "../../support/limits.ts";
import { checkWorkingDir } from "../../support/start-checks.ts";
import { admitRun } from "../admit-run.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { Interruption } from "../interruption.ts";
import { printJson, remark } from "../print.ts";
import { inNamedSession } from "./named-session.ts";
import { copyOutput } from "./run-foreground.ts";
import { streamsOf } from "./run-json.ts";
import { managerOptionsOf, type RunPlan } from "./run-plan.ts";

export async function runInPreview(io: CliIo, plan: RunPlan): Promise<number> {
  checkWorkingDir(plan.workingDir, undefined);
  const cancel = new AbortController();
  using interruption = new Interruption(io, () => cancel.abort());
  await using manager = new ShellManager(managerOptionsOf(plan));
  const { session: name } = plan;
  const code =
    name === undefined
      ? await preview(io, plan, await admitRun(io, plan, manager, undefined, cancel.signal))
      : await inNamedSession(io, manager, { ...plan, name }, async (session) =>
          preview(io, plan, await admitRun(io, plan, manager, session, cancel.signal)),
        );
  return interruption.exitCode ?? code;
}

async function preview(io: CliIo, plan: RunPlan, admitted: Admitted): Promise<number> {
  const { json, stdin } = plan;
  const timeoutMs = plan.timeoutMs ?? (json ? DEFAULT_TIMEOUT_MS : undefined);
  let copying: Promise<unknown> | undefined;
  const onStart = (shell: ShellProcess) => {
    if (!json) copying = copyOutput(io, shell, new AbortController().signal);
  };
  try {
    const previewed = await runPreview(admitted, {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(stdin ? { stdin: io.stdin } : {}),
      onStart,
    });
    await copying;
    return json ? await printResult(io, previewed, admitted) : printEffects(io, previewed);
  } finally {
    if (stdin) io.stdin.destroy();
  }
}

async function printResult(io: CliIo, previewed: PreviewedCommand, admitted: Admitted): Promise<number> {
  const result = await previewResult(previewed, admitted, { description: "", howToCommit });
  const streams = await streamsOf(ownScriptParts(previewed.shell), admitted.options);
  printJson(io, { ...result.toWire(), ...streams });
  return exitCodeOf(previewed.shell);
}

function printEffects(io: CliIo, { shell, record, changes, notes }: PreviewedCommand): number {
  for (const text of [...shell.remarks, ...notes]) remark(io, text);
  const { outcome } = shell;
  if (outcome && !["exited", "signaled"].includes(outcome.kind)) remark(io, failureText(outcome));
  for (const line of previewLines(record, changes, howToCommit(record.id))) io.stderr.write(`${line}\n`);
  return exitCodeOf(shell);
}

function exitCodeOf({ outcome, exitCode }: ShellProcess): number {
  if (outcome?.kind === "timedOut") return EXIT.timedOut;
  return exitCode ?? EXIT.failed;
}

function howToCommit(id: string): string {
  return `nacre preview commit ${id} writes it, nacre preview diff ${id} shows it.`;
}
