// The result of a preview: the outcome of the command and its effects, for a model, a program and the command line.
import { changeLines, countsOf } from "../preview/describe-changes.ts";
import type { PreviewRecord } from "../preview/preview-record.ts";
import type { Change } from "../preview/scan-changes.ts";
import { PREVIEW_PATHS_MAX_COUNT } from "../support/limits.ts";
import { ToolResult } from "../tool/result.ts";
import type { Admitted } from "./admission.ts";
import type { BashMetadata } from "./bash-result.ts";
import { sandboxNotes, sandboxOf } from "./confinement-notes.ts";
import { endedResult, endingMetadata } from "./endings.ts";
import { notesOn } from "./notes.ts";
import { ownScriptParts } from "./own-script.ts";
import { previewMetadata } from "./preview-metadata.ts";
import type { PreviewedCommand } from "./preview-run.ts";
import { render } from "./render.ts";

/** The lines about the preview, shown after the output of the command. `howToCommit` explains the next step. */
export function previewLines(
  record: PreviewRecord,
  changes: readonly Change[],
  howToCommit: string,
): string[] {
  const { id, status, notCaptured } = record;
  if (status !== "pending") return [`Preview ${id} is ${status}.`];
  return [
    `Preview ${id}: ${countsOf(changes)}. Nothing was written.${changes.length === 0 ? "" : ` ${howToCommit}`}`,
    ...changeLines(changes, PREVIEW_PATHS_MAX_COUNT),
    ...notCaptured.map((text) => `not captured: ${text}`),
  ];
}

export interface PreviewResultOptions {
  readonly description: string;
  readonly howToCommit: (id: string) => string;
  /** The number of paths listed of each kind. @default all */
  readonly maxPaths?: number;
  /** Whether the reader's own commands run in a sandbox, which hides the output files. */
  readonly isReaderConfined?: boolean;
}

export async function previewResult(
  { shell, record, changes, notes }: PreviewedCommand,
  { command, context, options }: Admitted,
  { description, howToCommit, maxPaths, isReaderConfined = false }: PreviewResultOptions,
): Promise<ToolResult<BashMetadata>> {
  // The command of a preview always runs in a sandbox.
  const hiddenUnder = isReaderConfined ? () => shell.id : undefined;
  const { text, truncated, outputFile } = await render(ownScriptParts(shell), options, { hiddenUnder });
  const { exitCode, durationMs, outcome, remarks, workingDir, confinement } = shell;
  const metadata: BashMetadata = {
    command,
    description,
    exit_code: exitCode,
    duration_ms: Math.round(durationMs),
    truncated,
    containment: options.manager().containment,
    sandbox: sandboxOf(confinement),
    ...endingMetadata(outcome),
    ...(outputFile && { output_file: outputFile }),
    ...(truncated && { bash_id: shell.id }),
    ...previewMetadata(record, changes, maxPaths),
  };
  const ended = { command, exitCode, outcome, remarks, leftovers: [], workingDir };
  const all = [
    ...notes,
    ...notesOn({ ended, context, options, howToEnd: "" }),
    ...sandboxNotes(ended, confinement, text),
  ];
  const effects = previewLines(record, changes, howToCommit(record.id)).join("\n");
  const output = text === "" ? effects : `${text.replace(/\n?$/, "\n")}${effects}`;
  return endedResult(outcome, { text: output, metadata, notes: all });
}

/** The result for a command that was not run, because preview and run_in_background contradict each other. */
export function backgroundPreview(): ToolResult<BashMetadata> {
  return ToolResult.fail<BashMetadata>(
    "preview and run_in_background exclude each other: the effects of a command are known when it has ended. Leave one of them out.",
    { code: "invalid_input" },
  );
}
