// `nacre wait`: waits until shells end, print a line, listen on a port, or a file exists.
import { describeOutcome } from "../../shell/outcome.ts";
import type { ShellProcess } from "../../shell/shell-process.ts";
import { describeWanted, type WaitCondition } from "../../shell/wait-for.ts";
import { defined } from "../../support/defined.ts";
import { shownPath, wirePath } from "../../support/path-text.ts";
import type { LinePattern } from "../../text/filter.ts";
import type { CliIo } from "../cli-io.ts";
import { EXIT } from "../exit-code.ts";
import { readOnlyManager, shellById } from "../find-shell.ts";
import { patternOf } from "../pattern-option.ts";
import { printJson, remark } from "../print.ts";

export interface WaitOptions {
  readonly ids: readonly string[];
  readonly for?: string;
  readonly port?: number;
  readonly file?: string;
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
  { timeout, json = false, port, file }: WaitOptions,
): Promise<Wait> {
  const condition = conditionOf(pattern, port, file);
  const { stopped } = io;
  const result = await shell.waitUntil({ ...condition, ...defined({ signal: stopped }) }, timeout);
  const line = result.kind === "matched" ? result.line : undefined;
  if (!json && line !== undefined) io.stdout.write(`${line}\n`);
  const remarkText = "remark" in result ? result.remark : undefined;
  const because = remarkText === undefined ? "" : `. ${remarkText}`;
  const report = (text: string) => json || remark(io, `${shell.id} ${text}`);
  if (result.kind === "expired" && timeout !== undefined)
    report(`is still running after ${timeout}ms${because}`);
  if (result.kind === "unreachable") report(`is unreachable${because}`);
  if (result.kind === "listening") report(`listens on port ${result.port} (PID ${result.pid})`);
  if (result.kind === "exists") report(`is ready: ${shownPath(result.path)} exists`);
  if (result.kind === "ended") {
    const before = condition.exit
      ? ""
      : ` before ${pattern ? "a line matched" : `${describeWanted(condition)} was ready`}`;
    report(`${describeOutcome(result.outcome)}${before}${because}`);
  }
  const { status, exitCode: exit_code, durationMs: duration_ms } = shell;
  const found = {
    ...defined({ line, remark: remarkText }),
    ...(result.kind === "listening" ? { port: result.port, pid: result.pid } : {}),
    ...(result.kind === "exists" ? { file: wirePath(result.path) } : {}),
  };
  const wire = { bash_id: shell.id, result: result.kind, ...found, status, exit_code, duration_ms };
  // If the shell ended before the condition was met, the wait has failed, even if the command exited with 0.
  const ended = condition.exit ? (exit_code ?? EXIT.failed) : EXIT.failed;
  const met = { matched: EXIT.ok, listening: EXIT.ok, exists: EXIT.ok };
  const codes = { ...met, unreachable: EXIT.failed, expired: EXIT.timedOut, ended };
  return { wire, exitCode: codes[result.kind] };
}

function conditionOf(
  pattern: LinePattern | undefined,
  port: number | undefined,
  file: string | undefined,
): WaitCondition {
  if (port !== undefined) return { port };
  if (file !== undefined) return { file };
  return pattern ? { pattern } : { exit: true };
}
