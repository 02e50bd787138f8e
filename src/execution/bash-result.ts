// What a model reads of a foreground command: how it ended, what it printed, what it left, and what became of
// its session.

import type { SessionResult } from "../session/session-options.ts";
import { describeOutcome, type Outcome } from "../shell/outcome.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ErrorCode } from "../support/errors.ts";
import { wirePath } from "../support/path-text.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import type { CallTiming } from "./call-timing.ts";
import { sandboxNotes, sandboxOf } from "./confinement-notes.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { type Leftover, sessionLeftovers } from "./leftovers.ts";
import { notesOn } from "./notes.ts";
import type { RefusalMetadata } from "./refusal.ts";
import { type OutputParts, render } from "./render.ts";

/** What is told of a command in either dialect. */
export interface CommandMetadata extends RefusalMetadata {
  readonly command: string;
  readonly exit_code: number | null;
  readonly duration_ms: number;
  readonly truncated: boolean;
  readonly signal?: string;
  readonly timeout_ms?: number;
  readonly dry_run?: boolean;
  readonly bash_id?: string;
  readonly output_file?: string;
  readonly leftovers?: readonly Leftover[];
  readonly containment?: string;
  /** What it ran under. */
  readonly sandbox?: string;
}

export interface BashMetadata extends CommandMetadata {
  readonly description: string;
  /** A new bash goes on with the session's state. */
  readonly restarted?: boolean;
  /** Where the next command runs, if the command has moved; of a refused one, where it would have run. */
  readonly cwd?: string;
}

export interface ResultPlace {
  readonly asked: Pick<BashMetadata, "command" | "description">;
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  readonly timing: CallTiming;
}

export async function bashResult(
  result: SessionResult,
  place: ResultPlace,
): Promise<ToolResult<BashMetadata>> {
  const { outcome, shell } = result;
  if (shell) return await wentOn(result, shell, place);
  const { options, context } = place;
  const { timeoutMs = 0 } = place.timing;
  const leftovers = sessionLeftovers(result.leftovers);
  const { text, truncated, outputFile } = await render(partsOf(result), options);
  const metadata: BashMetadata = {
    ...common(result, place),
    truncated,
    ...(outcome?.kind === "signaled" ? { signal: outcome.signal } : {}),
    ...(outcome?.kind === "timedOut" ? { timeout_ms: timeoutMs } : {}),
    ...(outputFile === undefined ? {} : { output_file: outputFile }),
    // What is left can be ended under this id.
    ...(result.leftoverShell ? { leftovers, bash_id: result.leftoverShell.id } : {}),
  };
  const { command, exitCode, notes: remarks } = result;
  const ended = { command, exitCode, outcome, remarks, leftovers, workingDir: result.cwd };
  const howToEnd = `KillShell with shell_id="${result.leftoverShell?.id}" ends it.`;
  // In a session what is left running lives on.
  const confined = sandboxNotes({ ...ended, command: "" }, result.confinement, text);
  const notes = [...notesOn({ ended, context, options, howToEnd }), ...confined];
  const failure = failureOf(outcome, timeoutMs);
  if (!failure) return ToolResult.ok(text, metadata, { notes });
  return ToolResult.fail<BashMetadata>(failure.error, { code: failure.code, output: text, metadata, notes });
}

function failureOf(
  outcome: Outcome | undefined,
  timeoutMs: number,
): { readonly error: string; readonly code: ErrorCode } | undefined {
  switch (outcome?.kind) {
    case "exited":
      return outcome.code === 0
        ? undefined
        : { error: `Command failed with exit code ${outcome.code}`, code: "exit_nonzero" };
    case "signaled":
      return {
        error: `Command failed with exit code ${outcome.code} (${outcome.signal})`,
        code: "exit_nonzero",
      };
    case "timedOut":
      return { error: `Command timed out after ${timeoutMs}ms`, code: "timed_out" };
    case "aborted":
      return {
        error: "Command was cancelled by the caller and ended with everything it started",
        code: "aborted",
      };
    case "killed":
      return { error: `Command was ${describeOutcome(outcome)}`, code: "aborted" };
    default: {
      const words = outcome ? describeOutcome(outcome) : "it did not end";
      const code = outcome?.kind === "failedToStart" ? "spawn_failed" : "internal";
      return { error: `Failed to execute command: ${words}`, code };
    }
  }
}

/** Its time was over; its bash has become a background shell. */
async function wentOn(
  result: SessionResult,
  shell: ShellProcess,
  place: ResultPlace,
): Promise<ToolResult<BashMetadata>> {
  const { options, timing } = place;
  const { backgroundAfterMs = 0, timeoutMs } = timing;
  const { text, truncated, outputFile } = await render(shell.outputParts, options);
  const until =
    timeoutMs === undefined ? "" : `\nIt is ended with everything it started ${timeoutMs}ms after its start.`;
  const words = `Command is still running after ${backgroundAfterMs}ms and goes on as background shell: ${shell.id}${until}\nUse BashOutput with bash_id="${shell.id}" to read what it prints from the start, KillShell to end it.`;
  return ToolResult.ok<BashMetadata>(
    text === "" ? words : `${words}\nSo far it has printed:\n${text}`,
    {
      ...common(result, place),
      truncated,
      timeout_ms: timeoutMs ?? backgroundAfterMs,
      bash_id: shell.id,
      ...(outputFile === undefined ? {} : { output_file: outputFile }),
    },
    { notes: result.notes },
  );
}

function common(result: SessionResult, { asked }: ResultPlace) {
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

/** Messages of bash count the lines of the command and not of the session. */
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
 * bash numbers the lines of a session as one script. Counts from the first line of the command instead. `firstLine` as in
 * the result of the command. Lines of earlier commands, of a function for example, keep their number.
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
