// `nacre output`: what a shell has printed. Reads the files and moves no reader's position. As a text it is what an
// agent would read: cleaned, cut to size, stderr below; as bytes (--all, --raw, --follow) what was printed.
import { resolveExecutionOptions } from "../../execution/execution-options.ts";
import { type OutputParts, render } from "../../execution/render.ts";
import type { SpoolPart } from "../../execution/spool-text.ts";
import { describeOutcome } from "../../shell/outcome.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { ShellManager } from "../../shell-manager.ts";
import type { LinePattern } from "../../text/filter.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { lookAtShells, shellById } from "../look.ts";
import { patternOf } from "../pattern-option.ts";
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
  const manager = lookAtShells();
  const pattern = await patternOf(options.filter, "filter");
  const shell = shellById(manager, id);
  if (all || raw || follow) {
    const parts = partsOf(shell, tail, false, pattern);
    const code = await printBytes(io, shell, { parts, pattern, stderr, follow: follow ?? false });
    if (code === EXIT.ok) tellOddities(io, shell, follow ?? false);
    return code;
  }
  // Told before it is read: what is printed up to the end is on disk when the end is known.
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
    io.stdout.write(`${JSON.stringify(wire)}\n`);
    return EXIT.ok;
  }
  io.stdout.write(text);
  if (text !== "" && !text.endsWith("\n")) io.stdout.write("\n");
  io.stderr.write(`nacre: ${shell.id} is ${status}${truncated ? "; --all prints all of it" : ""}\n`);
  return EXIT.ok;
}

/** What the bytes alone do not say: that some are missing, and that it did not come to its end by itself. */
function tellOddities(io: CliIo, { id, remarks, outcome }: ShellProcess, follow: boolean): void {
  for (const remark of remarks) io.stderr.write(`nacre: ${remark}\n`);
  if (!follow || !outcome || outcome.kind === "exited") return;
  io.stderr.write(`nacre: ${id} ${describeOutcome(outcome)}\n`);
}

interface Shown {
  readonly text: string;
  readonly truncated: boolean;
  readonly outputFile: string | undefined;
}

async function textOf(
  shell: ShellProcess,
  manager: ShellManager,
  { tail, stderr = false }: OutputOptions,
  pattern: LinePattern | undefined,
): Promise<Shown> {
  const options = resolveExecutionOptions({ manager });
  // With a pattern it is the last lines that match.
  const parts = partsOf(shell, pattern ? undefined : tail, stderr);
  if (!pattern || tail === undefined) return await render(parts, options, pattern);
  const out = await render({ ...parts, stderr: nothing(parts.stderr) }, options, pattern);
  const err = await render({ ...parts, stdout: nothing(parts.stdout) }, options, pattern);
  const text = [out, err].map((one) => lastLines(one.text, tail)).join("");
  return { text, truncated: out.truncated || err.truncated, outputFile: out.outputFile ?? err.outputFile };
}

/** What there is now, or the last lines of it (that match). `stderr`: in place of stdout. */
function partsOf(
  shell: ShellProcess,
  tail: number | undefined,
  stderr: boolean,
  pattern?: LinePattern,
): OutputParts {
  const parts = shell.outputParts;
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
