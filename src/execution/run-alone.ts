// Runs one command in a separate bash, on behalf of a program: kit.run and kit.sh.
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { checkOptions } from "../support/option-checks.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { runForeground } from "./foreground.ts";
import { leftoversOf } from "./leftovers.ts";
import { type LiveOutput, type OutputListener, type PendingRun, pendingRun } from "./live-output.ts";
import { missingVariables } from "./notes.ts";
import { ownScriptText } from "./own-script.ts";
import { type RunResult, runResult } from "./run-result.ts";

export interface RunCommandOptions {
  /** The directory to run in. A relative path is resolved against the toolkit's workingDir. @default that workingDir */
  readonly cwd?: string;
  /** Variables for this command only. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the command reads from stdin. @default nothing */
  readonly input?: string | Uint8Array | Readable;
  /** Ends the command after this time; Infinity for never. @default 120000 */
  readonly timeoutMs?: number;
  /** Cancels the command, or the wait for its start. */
  readonly signal?: AbortSignal;
  /** Receives the output while the command runs. */
  readonly onOutput?: OutputListener;
  /** Receives the location of the output when the command starts. @internal */
  readonly onStart?: (parts: RunResult["parts"]) => void;
  /** Leaves the texts of the result empty, for a caller that reads the files itself. @internal */
  readonly omitText?: boolean;
}

/** Every ending is returned as a value. If this throws, the command did not run. */
export function runAlone(
  command: string,
  options: RunCommandOptions,
  defaults: ExecutionContext,
  execution: ResolvedExecutionOptions,
): PendingRun<RunResult> {
  const start = async (live: LiveOutput) => {
    checkOptions("kit.run", options);
    const { cwd, env, input, signal } = options;
    const context = {
      ...defaults,
      ...(cwd === undefined ? {} : { workingDir: resolve(defaults.workingDir, cwd) }),
      ...(env && { env }),
      ...(signal && { signal }),
    };
    const admitted = await admit({ command, background: false, session: null }, context, execution);
    const shell = await runForeground(admitted, {
      streams: "split",
      ...timeoutOf(options, execution),
      ...(input === undefined ? {} : { stdin: streamOf(input) }),
      onStart: ({ outputParts }) => {
        live.begin(outputParts);
        options.onStart?.(outputParts);
      },
    });
    const leftovers = await leftoversOf(shell);
    const { exitCode, durationMs, outcome, remarks, outputParts: parts } = shell;
    const notes = [...remarks, ...missingVariables({ command, exitCode }, execution)];
    return {
      result: runResult(
        { command, exitCode, durationMs, outcome, notes, leftovers, parts },
        {
          clean: (text) => ownScriptText(text, shell),
          ...(options.omitText ? { omitText: true } : {}),
        },
      ),
      ends: parts,
    };
  };
  return pendingRun(options?.onOutput, start, options?.signal);
}

/** The timeout of a run: its own, or else the toolkit's default; undefined for Infinity. */
export function timeoutOf(
  { timeoutMs }: Pick<RunCommandOptions, "timeoutMs">,
  { defaultTimeoutMs, defaultDeadline }: ResolvedExecutionOptions,
): { readonly timeoutMs?: number } {
  const wanted = timeoutMs ?? (defaultDeadline ? defaultTimeoutMs : Number.POSITIVE_INFINITY);
  return wanted === Number.POSITIVE_INFINITY ? {} : { timeoutMs: wanted };
}

/** The input of a command as a stream. */
export function streamOf(input: NonNullable<RunCommandOptions["input"]>): Readable {
  if (typeof input !== "string" && !ArrayBuffer.isView(input)) return input;
  return Readable.from(input.length === 0 ? [] : [Buffer.from(input)]);
}
