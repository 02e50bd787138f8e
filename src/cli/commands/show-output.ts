// `nacre output`: prints the output of a shell from its files, without advancing any cursor. By default, prints it as
// an agent would read it: cleaned, truncated, stderr below stdout. With --all, --raw, --follow or --timestamps, prints it
// byte for byte.
import { resolveExecutionOptions } from "../../execution/execution-options.ts";
import { readLines } from "../../execution/output-reading.ts";
import { ownScriptParts } from "../../execution/own-script.ts";
import { type OutputParts, render } from "../../execution/render.ts";
import type { SpoolPart } from "../../execution/spool-text.ts";
import type { StreamName } from "../../shell/follow-output.ts";
import { describeOutcome } from "../../shell/outcome.ts";
import { checkPresent } from "../../shell/output-search.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { ShellManager } from "../../shell-manager.ts";
import type { LinePattern } from "../../text/filter.ts";
import { createContext } from "../../tool/context.ts";
import { counted } from "../amounts.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { patternOf } from "../pattern-option.ts";
import { printJson, remark } from "../print.ts";
import { LineTimes } from "./line-times.ts";
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
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly timestamps?: boolean;
  readonly search?: string;
  readonly context?: number;
  readonly fromLine?: number;
  readonly maxLines?: number;
}

export async function printOutput(io: CliIo, options: OutputOptions): Promise<number> {
  const { id, all, raw, follow, timestamps, json = false, stderr = false } = options;
  const manager = readOnlyManager();
  const pattern = await patternOf(options.filter, "--filter");
  const shell = shellById(manager, id);
  checkPresent(shell.id, shell.outputParts);
  if (isReading(options)) return await printLines(io, shell, manager, options);
  if (all || raw || follow || timestamps) {
    const parts = partsOf(shell, { ...options, stderr: false }, pattern);
    const times = timestamps ? new LineTimes(shell) : undefined;
    const code = await printBytes(io, shell, { parts, pattern, stderr, follow: follow ?? false, times });
    if (code === EXIT.ok) reportIncomplete(io, shell, follow ?? false);
    if (code === EXIT.ok && times) reportUncertain(io, times);
    return code;
  }
  // Read the status before the output: if the status says that the shell has ended, its whole output is on disk.
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
  const state =
    status === "failed" && exitCode !== null ? `failed with exit code ${exitCode}` : `is ${status}`;
  remark(io, `${shell.id} ${state}${truncated ? "; --all prints the whole output" : ""}`);
  return EXIT.ok;
}

function isReading({ search, context, fromLine, maxLines }: OutputOptions): boolean {
  return [search, context, fromLine, maxLines].some((one) => one !== undefined);
}

/** Prints numbered lines, as BashOutput does. */
async function printLines(
  io: CliIo,
  shell: ShellProcess,
  manager: ShellManager,
  { search, context, fromLine, maxLines, tail, stderr = false, json = false }: OutputOptions,
): Promise<number> {
  const args = {
    ...{ search, context_lines: context, from_line: fromLine, max_lines: maxLines, tail_lines: tail },
    stream: stderr ? ("stderr" as const) : undefined,
  };
  const options = resolveExecutionOptions({ manager });
  const result = await readLines(shell, args, createContext({ workingDir: io.cwd }), options);
  if (json) printJson(io, result.toWire());
  else {
    const { output, notes } = result;
    io.stdout.write(`${output.slice(output.indexOf("\n\n") + 2)}\n`);
    for (const text of notes) remark(io, text);
  }
  return result.metadata.matches === 0 ? EXIT.failed : EXIT.ok;
}

/** Reports missing output. After --follow, also reports an ending that is not an exit. */
function reportIncomplete(io: CliIo, { id, remarks, outcome }: ShellProcess, follow: boolean): void {
  for (const text of remarks) remark(io, text);
  if (!follow || !outcome || outcome.kind === "exited") return;
  remark(io, `${id} ${describeOutcome(outcome)}`);
}

function reportUncertain(io: CliIo, { uncertainCount }: LineTimes): void {
  if (uncertainCount === 0) return;
  remark(
    io,
    `${counted(uncertainCount, "line")} may be older than shown: nothing recorded the time when the shell printed ${uncertainCount === 1 ? "it" : "them"}`,
  );
}

interface RenderedOutput {
  readonly text: string;
  readonly truncated: boolean;
  readonly outputFile: string | undefined;
}

async function textOf(
  shell: ShellProcess,
  manager: ShellManager,
  { tail, since, stderr }: OutputOptions,
  pattern: LinePattern | undefined,
): Promise<RenderedOutput> {
  const options = resolveExecutionOptions({ manager });
  // With a pattern, --tail counts matching lines, so cut after filtering.
  const parts = partsOf(shell, { since, stderr, tail: pattern ? undefined : tail });
  if (!pattern || tail === undefined) return await render(parts, options, { filter: pattern });
  const out = await render({ ...parts, stderr: nothing(parts.stderr) }, options, { filter: pattern });
  const err = await render({ ...parts, stdout: nothing(parts.stdout) }, options, { filter: pattern });
  const text = [out, err].map((one) => lastLines(one.text, tail)).join("");
  return { text, truncated: out.truncated || err.truncated, outputFile: out.outputFile ?? err.outputFile };
}

interface Wanted {
  readonly tail?: number | undefined;
  readonly since?: number | undefined;
  /** Return only stderr, but in the field for stdout. */
  readonly stderr?: boolean | undefined;
}

/** The current output, or its last (matching) lines. */
function partsOf(shell: ShellProcess, { tail, since, stderr }: Wanted, pattern?: LinePattern): OutputParts {
  const times = since === undefined ? undefined : new LineTimes(shell);
  const whole = ownScriptParts(shell);
  const cut = (stream: StreamName) => {
    const from = times?.sinceOf(stream, whole[stream], since ?? 0) ?? whole[stream].from;
    const part = { ...whole[stream], from };
    if (tail === undefined) return part;
    return { ...part, from: pattern ? matchingTailOf(part, tail, pattern) : tailOf(part, tail) };
  };
  if (stderr) return { stdout: cut("stderr"), stderr: nothing(whole.stderr) };
  return { stdout: cut("stdout"), stderr: cut("stderr") };
}

function nothing(part: SpoolPart): SpoolPart {
  return { ...part, from: part.to };
}
