// `nacre output`: prints the output of a shell from its files, without advancing any cursor. By default, prints it as
// an agent would read it: cleaned, truncated, stderr below stdout. With --all, --raw or --follow, prints it byte for
// byte.
import { resolveExecutionOptions } from "../../execution/execution-options.ts";
import { ownScriptParts } from "../../execution/own-script.ts";
import { type OutputParts, render } from "../../execution/render.ts";
import type { SpoolPart } from "../../execution/spool-text.ts";
import { describeOutcome } from "../../shell/outcome.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { ShellManager } from "../../shell-manager.ts";
import type { LinePattern } from "../../text/filter.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { patternOf } from "../pattern-option.ts";
import { printJson, remark } from "../print.ts";
import { printBytes } from "./output-bytes.ts";
import { lastLines, matchingTailOf, tailOf } from "./output-tail.ts";

export interface OutputOptions {
  readonly id: string;
  readonly all?: boolean;
  readonly raw?: boolean;
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly stderr?: boolean;
  readonly tail?: number;
  readonly filter?: string;
}

export async function printOutput(io: CliIo, options: OutputOptions): Promise<number> {
  const { id, all, raw, follow, json = false, stderr = false, tail } = options;
  const manager = readOnlyManager();
  const pattern = await patternOf(options.filter, "filter");
  const shell = shellById(manager, id);
  if (all || raw || follow) {
    const parts = partsOf(shell, tail, false, pattern);
    const code = await printBytes(io, shell, { parts, pattern, stderr, follow: follow ?? false });
    if (code === EXIT.ok) reportIncomplete(io, shell, follow ?? false);
    return code;
  }
  // Read the status before the output: once a shell has ended, its whole output is on disk.
  const { status, exitCode, durationMs, isRunning } = shell;
  const { text, truncated, outputFile } = await textOf(shell, manager, options, pattern);
  if (json) {
    const wire = {
      output: text,
      bash_id: shell.id,
      status,
      exit_code: exitCode,
      is_running: isRunning,
      duration_ms: durationMs,
      truncated,
      ...(outputFile === undefined ? {} : { output_file: outputFile }),
      notes: shell.remarks,
    };
    printJson(io, wire);
    return EXIT.ok;
  }
  io.stdout.write(text);
  if (text !== "" && !text.endsWith("\n")) io.stdout.write("\n");
  const code = status === "failed" && exitCode !== null ? ` (exit code ${exitCode})` : "";
  remark(io, `${shell.id} is ${status}${code}${truncated ? "; --all prints the whole output" : ""}`);
  return EXIT.ok;
}

/** Reports missing output, and after --follow an ending other than an exit. */
function reportIncomplete(io: CliIo, { id, remarks, outcome }: ShellProcess, follow: boolean): void {
  for (const text of remarks) remark(io, text);
  if (!follow || !outcome || outcome.kind === "exited") return;
  remark(io, `${id} ${describeOutcome(outcome)}`);
}

interface RenderedOutput {
  readonly text: string;
  readonly truncated: boolean;
  readonly outputFile: string | undefined;
}

async function textOf(
  shell: ShellProcess,
  manager: ShellManager,
  { tail, stderr = false }: OutputOptions,
  pattern: LinePattern | undefined,
): Promise<RenderedOutput> {
  const options = resolveExecutionOptions({ manager });
  // With a pattern, --tail counts matching lines, so cut after filtering.
  const parts = partsOf(shell, pattern ? undefined : tail, stderr);
  if (!pattern || tail === undefined) return await render(parts, options, pattern);
  const out = await render({ ...parts, stderr: nothing(parts.stderr) }, options, pattern);
  const err = await render({ ...parts, stdout: nothing(parts.stdout) }, options, pattern);
  const text = [out, err].map((one) => lastLines(one.text, tail)).join("");
  return { text, truncated: out.truncated || err.truncated, outputFile: out.outputFile ?? err.outputFile };
}

/** The current output, or its last (matching) lines. With `stderr`, only stderr, in place of stdout. */
function partsOf(
  shell: ShellProcess,
  tail: number | undefined,
  stderr: boolean,
  pattern?: LinePattern,
): OutputParts {
  const parts = ownScriptParts(shell);
  const cut = (part: SpoolPart) => {
    if (tail === undefined) return part;
    return { ...part, from: pattern ? matchingTailOf(part, tail, pattern) : tailOf(part, tail) };
  };
  if (stderr) return { stdout: cut(parts.stderr), stderr: nothing(parts.stderr) };
  return { stdout: cut(parts.stdout), stderr: cut(parts.stderr) };
}

function nothing(part: SpoolPart): SpoolPart {
  return { ...part, from: part.to };
}
