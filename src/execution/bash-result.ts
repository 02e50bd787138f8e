// The result of a foreground command in a session: its outcome, its output, its leftovers, and the session's state.

import type { SessionResult } from "../session/session-options.ts";
import { type Diagnosis, summaryOf } from "../shell/diagnosis.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { defined } from "../support/defined.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { CallTiming } from "./call-timing.ts";
import { isConfined, sandboxNotes, sandboxOf } from "./confinement-notes.ts";
import { type CommandMetadata, endedResult, endingMetadata } from "./endings.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { sessionLeftovers } from "./leftovers.ts";
import { notesOn } from "./notes.ts";
import type { PreviewMetadata } from "./preview-metadata.ts";
import { promptNote } from "./prompt-note.ts";
import { type OutputParts, render, sanitizerFor } from "./render.ts";

export interface BashMetadata extends CommandMetadata, Partial<PreviewMetadata> {
  readonly description: string;
  /** Whether the session has a new bash, which continues with the session's state. */
  readonly restarted?: boolean;
  /**
   * The directory in which the next command runs, if this command changed it. For a refused command, the directory in
   * which that command would have run.
   */
  readonly cwd?: string;
  /** What the command's processes were doing shortly before its time was up. */
  readonly diagnosis?: Diagnosis;
}

export interface ResultContext {
  readonly asked: Pick<BashMetadata, "command" | "description">;
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  readonly timing: CallTiming;
  /** The diagnosis from the command's last second before its timeout; undefined if the command ended earlier. */
  readonly diagnosis?: Diagnosis | undefined;
}

export async function bashResult(
  result: SessionResult,
  call: ResultContext,
): Promise<ToolResult<BashMetadata>> {
  const { outcome, shell, command, exitCode, leftoverShell } = result;
  if (shell) return await movedToBackground(result, shell, call);
  const { options, context } = call;
  const leftovers = leftoverShell ? sessionLeftovers(result.leftovers) : [];
  let whole: ShellProcess | undefined;
  const idOfAll = () => {
    whole ??= result.asShell();
    return whole.id;
  };
  const hiddenUnder = isConfined(result.confinement) ? idOfAll : undefined;
  const { text, truncated, outputFile } = await render(partsOf(result), options, { hiddenUnder });
  const metadata: BashMetadata = {
    ...common(result, call),
    truncated,
    ...endingMetadata(outcome),
    ...defined({ diagnosis: outcome?.kind === "timedOut" ? call.diagnosis : undefined }),
    ...(outputFile && { output_file: outputFile }),
    // BashOutput can search the whole output under this id.
    ...(truncated && { bash_id: idOfAll() }),
    // KillShell ends the leftovers under this id.
    ...(leftoverShell && { leftovers, bash_id: leftoverShell.id }),
  };
  const ended = { command, exitCode, outcome, remarks: result.notes, leftovers, workingDir: result.cwd };
  const howToEnd = `KillShell with shell_id="${leftoverShell?.id}" ends it.`;
  // Leftovers in a session outlive the command. Pass no command text; otherwise a note would say that they ended.
  const confined = sandboxNotes({ ...ended, command: "" }, result.confinement, text);
  const why = outcome?.kind === "timedOut" ? diagnosisLine(call, "When its time was over") : [];
  const notes = [...why, ...notesOn({ ended, context, options, howToEnd }), ...promptNote(text), ...confined];
  return endedResult(outcome, { text, metadata, notes });
}

/** The result of a call that returned before its command ended. The command's bash became a background shell. */
async function movedToBackground(
  result: SessionResult,
  shell: ShellProcess,
  call: ResultContext,
): Promise<ToolResult<BashMetadata>> {
  call.options.manager().finished.track(shell);
  const { backgroundAfterMs = 0, timeoutMs } = call.timing;
  const { text, truncated, outputFile } = await render(shell.outputParts, call.options);
  const lines = [
    `Command is still running after ${backgroundAfterMs}ms and continues as background shell: ${shell.id}`,
    ...(timeoutMs === undefined
      ? []
      : [`It is killed with everything it started ${timeoutMs}ms after its start.`]),
    `Use BashOutput with bash_id="${shell.id}" to read its output from the start, KillShell to end it.`,
    ...diagnosisLine(call, "Now"),
    ...(text === "" ? [] : ["Output so far:", text]),
  ];
  return ToolResult.ok<BashMetadata>(
    lines.join("\n"),
    {
      ...common(result, call),
      truncated,
      timeout_ms: timeoutMs ?? backgroundAfterMs,
      bash_id: shell.id,
      ...defined({ output_file: outputFile, diagnosis: call.diagnosis }),
    },
    { notes: result.notes },
  );
}

function diagnosisLine({ diagnosis, options }: ResultContext, when: string): string[] {
  return diagnosis ? [sanitizerFor(options)(`${when}: ${summaryOf(diagnosis)}`)] : [];
}

function common(result: SessionResult, { asked }: ResultContext) {
  return {
    ...asked,
    exit_code: result.exitCode,
    duration_ms: Math.round(result.durationMs),
    containment: result.containment,
    sandbox: sandboxOf(result.confinement),
    ...(result.restarted ? { restarted: true } : {}),
    ...(result.cwdChanged ? { cwd: wirePath(result.cwd) } : {}),
  };
}

/** Makes line numbers in bash's messages count from the start of the command, not of the session. */
function partsOf(result: SessionResult): OutputParts {
  return {
    stdout: { ...result.stdout, file: () => result.fileOf("stdout") },
    stderr: {
      ...result.stderr,
      file: () => result.fileOf("stderr"),
      first: (text) => renumberLines(text, result.firstLine),
    },
  };
}

/**
 * bash numbers the lines of a session as if it were one script. Renumbers them so that `firstLine`, the first line of
 * the command, becomes line 1. Lines of earlier commands, such as those in a function, keep their numbers.
 */
export function renumberLines(stderr: string, firstLine: number): string {
  const own = (all: string, head: string, line: string) => {
    const number = Number(line) - firstLine + 1;
    return number >= 1 ? `${head}${number}` : all;
  };
  return stderr
    .replace(/^((?:bash|main|environment): (?:\w+: )?line )(\d+)(?=: )/gm, own)
    .replace(/^(bash: line \d+: warning: here-document at line )(\d+)(?= )/gm, own);
}
