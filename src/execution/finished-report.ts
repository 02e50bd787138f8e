// Adds to a result which background shells of its scope have ended since the last result: a model then need not
// poll. An end is marked as reported only after the result has been delivered.
import { readRange } from "../engine/cursor.ts";
import type { EndReport } from "../shell/finished-shells.ts";
import { describeOutcome } from "../shell/outcome.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import { quotedExcerpt } from "../support/excerpt.ts";
import { SCAN_PIECE_BYTES } from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import type { ExecutionContext, ResultFate } from "../tool/context.ts";
import type { ToolResult } from "../tool/result.ts";
import { readerOf, scopeOf } from "./scope.ts";

/** An entry of `finished` in the metadata of a result. */
export interface FinishedShell {
  readonly bash_id: string;
  /** "swept" if the shell's files were removed before its end could be reported. */
  readonly status: string;
  readonly exit_code: number | null;
  readonly unread_lines: number;
}

/** Adds `finished` and a note for each shell that ended. Reports each end in one result only. */
export async function withFinished(
  result: ToolResult,
  manager: ShellManager,
  context: ExecutionContext,
): Promise<ToolResult> {
  const scope = scopeOf(context);
  // A BashOutput or KillShell result that shows the end of a shell already reports it.
  const own = reportedBy(result).flatMap((id) => manager.finished.claim(id, scope) ?? []);
  // The result that starts a shell does not report the end of that shell.
  const { bash_id } = result.metadata;
  const others = manager.finished.claimEnded(scope, typeof bash_id === "string" ? bash_id : undefined);
  const all = [...own, ...others];
  if (all.length === 0) return result;
  const fate = {
    delivered: () => {
      for (const { delivered } of all) delivered();
    },
    dropped: () => {
      for (const { dropped } of all) dropped();
    },
  };
  const deliver = context.delivery ?? (({ delivered }: ResultFate) => setImmediate(delivered));
  deliver(fate);
  if (others.length === 0) return result;
  const finished: FinishedShell[] = [];
  for (const report of others) finished.push(await entryOf(report, readerOf(context)));
  const notes = others.map((report, index) => lineOf(report, finished[index]?.unread_lines ?? 0));
  return result.withMetadata({ finished }).withNotes(...notes);
}

function reportedBy({ metadata }: ToolResult): string[] {
  const { bash_id, is_running, shell_id, status } = metadata;
  if (typeof bash_id === "string" && is_running === false) return [bash_id];
  return typeof shell_id === "string" && typeof status === "string" && status !== "running" ? [shell_id] : [];
}

async function entryOf({ id, shell }: EndReport, reader: string): Promise<FinishedShell> {
  if (!shell) return { bash_id: id, status: "swept", exit_code: null, unread_lines: 0 };
  const { status, exitCode } = shell;
  return { bash_id: id, status, exit_code: exitCode, unread_lines: await unreadLines(shell, reader) };
}

function lineOf({ id, shell }: EndReport, unread: number): string {
  if (!shell?.outcome) return `Background shell ${id} has ended; its output was removed.`;
  const lines = `${unread} unread line${unread === 1 ? "" : "s"}`;
  return `Background shell ${id} (${quotedExcerpt(shell.command)}) ${describeOutcome(shell.outcome)}; ${lines}. Read it with BashOutput.`;
}

const NEWLINE = 0x0a;

async function unreadLines(shell: ShellProcess, reader: string): Promise<number> {
  const cursors = shell.cursors(reader);
  let lines = 0;
  for (const stream of ["stdout", "stderr"] as const) {
    const { path, to } = shell.outputParts[stream];
    let last = NEWLINE;
    for (let at = cursors[stream].settle(); at < to; at += SCAN_PIECE_BYTES) {
      const bytes = readRange(path, at, Math.min(to, at + SCAN_PIECE_BYTES));
      for (let from = bytes.indexOf(NEWLINE); from >= 0; from = bytes.indexOf(NEWLINE, from + 1)) lines++;
      last = bytes.at(-1) ?? last;
      await yieldTurn();
    }
    if (last !== NEWLINE) lines++;
  }
  return lines;
}
