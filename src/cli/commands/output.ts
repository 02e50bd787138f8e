// `nacre output`: what a shell has printed. Reads the files and moves nobody's place in them.
import { createReadStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { resolveExecutionOptions } from "../../execution/options.ts";
import { render } from "../../execution/render.ts";
import { ShellManager } from "../../shell/shell-manager.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { findShell } from "../find-shell.ts";

export interface OutputOptions {
  readonly id: string;
  readonly all?: boolean;
  readonly follow?: boolean;
  readonly json?: boolean;
}

export async function printOutput(io: CliIo, options: OutputOptions): Promise<number> {
  const { id, all = false, follow = false, json = false } = options;
  const manager = new ShellManager({ poolSize: 0 });
  const shell = findShell(manager, id);
  if (follow) await passOn(io, shell);
  else if (json) await printJson(io, shell, manager);
  else if (all) await printRaw(io, shell);
  else await printText(io, shell, manager);
  return EXIT.ok;
}

async function passOn(io: CliIo, shell: ShellProcess): Promise<void> {
  for await (const { stream, text } of shell.output()) io[stream].write(text);
}

async function printJson(io: CliIo, shell: ShellProcess, manager: ShellManager): Promise<void> {
  // Told before it is read: what is printed up to the end is on disk when the end is known.
  const { status, exitCode, durationMs, isRunning } = shell;
  const { text, truncated, outputFile } = await render(
    shell.outputParts,
    resolveExecutionOptions({ manager }),
  );
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
}

async function printText(io: CliIo, shell: ShellProcess, manager: ShellManager): Promise<void> {
  const { status } = shell;
  const { text } = await render(shell.outputParts, resolveExecutionOptions({ manager }));
  io.stdout.write(text);
  if (text !== "" && !text.endsWith("\n")) io.stdout.write("\n");
  io.stderr.write(`nacre: ${shell.id} is ${status}\n`);
}

/** Each stream to its own: `nacre output ID --all > file` is what the command wrote to stdout. */
async function printRaw(io: CliIo, shell: ShellProcess): Promise<void> {
  const { stdout, stderr } = shell.outputFiles;
  await copy(stdout, io.stdout);
  await copy(stderr, io.stderr);
}

async function copy(path: string, to: Writable): Promise<void> {
  const file = createReadStream(path);
  file.pipe(to, { end: false });
  await finished(file, { writable: false });
}
