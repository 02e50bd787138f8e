// kit.preview: runs one command in a preview, on behalf of a program.
import { resolve } from "node:path";
import { changedPaths } from "../preview/describe-changes.ts";
import { NacreError } from "../support/errors.ts";
import { checkOptions } from "../support/option-checks.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { type LiveOutput, type PendingRun, pendingRun } from "./live-output.ts";
import { missingVariables } from "./notes.ts";
import { ownScriptText } from "./own-script.ts";
import { runPreview } from "./preview-run.ts";
import { type RunCommandOptions, streamOf, timeoutOf } from "./run-alone.ts";
import { type RunResult, runResult } from "./run-result.ts";
import { sessionTarget } from "./start-command.ts";

/** The result of the command, and what it would change. Paths are relative to the workspace. */
export interface PreviewResult extends RunResult {
  readonly previewId: string;
  readonly created: readonly string[];
  readonly changed: readonly string[];
  /** A deleted directory is listed once, for everything below it. */
  readonly deleted: readonly string[];
  /** Effects that a commit would not repeat. */
  readonly notCaptured: readonly string[];
}

export function previewForProgram(
  command: string,
  options: RunCommandOptions & { readonly session?: string },
  defaults: ExecutionContext,
  execution: ResolvedExecutionOptions,
): PendingRun<PreviewResult> {
  const start = async (live: LiveOutput) => {
    checkOptions("kit.preview", options);
    const { cwd, env, input, signal, session: sessionId } = options ?? {};
    if (input !== undefined && sessionId !== undefined) {
      throw new NacreError(
        "invalid_input",
        "The option input does not work with session. Write the input to a file that the command reads, or preview it without session.",
      );
    }
    const context = {
      ...defaults,
      ...(cwd === undefined ? {} : { workingDir: resolve(defaults.workingDir, cwd) }),
      ...(env && { env }),
      ...(signal && { signal }),
      ...(sessionId === undefined ? {} : { sessionId }),
    };
    const session = sessionId === undefined ? null : sessionTarget(context, execution, undefined);
    const wanted = { command, background: false, session, isPreview: true };
    const admitted = await admit(wanted, context, execution);
    const { shell, record, changes, notes } = await runPreview(admitted, {
      ...timeoutOf(options ?? {}, execution),
      ...(input === undefined ? {} : { stdin: streamOf(input) }),
      onStart: ({ outputParts }) => live.begin(outputParts),
    });
    const { exitCode, durationMs, outcome, remarks, outputParts: parts } = shell;
    const all = [...notes, ...remarks, ...missingVariables({ command, exitCode }, execution)];
    const facts = { command, exitCode, durationMs, outcome, notes: all, leftovers: [], parts };
    return {
      result: {
        ...runResult(facts, { clean: (text) => ownScriptText(text, shell) }),
        previewId: record.id,
        ...changedPaths(changes),
        notCaptured: record.notCaptured,
      },
      ends: parts,
    };
  };
  return pendingRun(options?.onOutput, start, options?.signal);
}
