// `nacre wait`: waits until shells end or print a line.
import { describeOutcome } from "../../shell/outcome.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import type { LinePattern } from "../../text/filter.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { patternOf } from "../pattern-option.ts";
import { printJson, remark } from "../print.ts";

export interface WaitOptions {
  readonly ids: readonly string[];
  readonly for?: string;
  readonly timeout?: number;
  readonly json?: boolean;
}

/** Waits for all shells in parallel. With --json, prints an object for one id, and an array for several. */
export async function waitForShells(io: CliIo, options: WaitOptions): Promise<number> {
  const manager = readOnlyManager();
  const pattern = await patternOf(options.for, "--for");
  // Find all shells first, so that a wrong id is reported before a long wait.
  const shells = options.ids.map((id) => shellById(manager, id));
  const waits = await Promise.all(shells.map((shell) => waitForShell(io, shell, pattern, options)));
  const [only, ...more] = waits;
  if (options.json) printJson(io, more.length === 0 ? only?.wire : waits.map(({ wire }) => wire));
  return waits.find(({ exitCode }) => exitCode !== EXIT.ok)?.exitCode ?? EXIT.ok;
}

interface Wait {
  readonly exitCode: number;
  readonly wire: Readonly<Record<string, unknown>>;
}

async function waitForShell(
  io: CliIo,
  shell: ShellProcess,
  pattern: LinePattern | undefined,
  { timeout, json = false }: WaitOptions,
): Promise<Wait> {
  const result = await shell.waitUntil(pattern ? { pattern } : { exit: true }, timeout);
  const line = result.kind === "matched" ? result.line : undefined;
  if (!json && line !== undefined) io.stdout.write(`${line}\n`);
  const report = (text: string) => json || remark(io, `${shell.id} ${text}`);
  if (result.kind === "expired") report(`is still running after ${timeout}ms`);
  if (result.kind === "ended")
    report(`${describeOutcome(result.outcome)}${pattern ? " before the line appeared" : ""}`);
  const { status, exitCode: exit_code, durationMs: duration_ms } = shell;
  const found = line === undefined ? {} : { line };
  const wire = { bash_id: shell.id, result: result.kind, ...found, status, exit_code, duration_ms };
  // Without the line, the wait failed, even if the command succeeded.
  const ended = pattern ? EXIT.failed : (exit_code ?? EXIT.failed);
  return { wire, exitCode: { matched: EXIT.ok, expired: EXIT.timedOut, ended }[result.kind] };
}
