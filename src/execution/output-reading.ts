// The search in BashOutput: returns numbered lines from everything that a shell has printed. Moves no cursor.
import { readRange } from "../engine/cursor.ts";
import { codeOf } from "../shell/outcome.ts";
import type { SearchedStream, SearchOptions, SearchResult, ShownLine } from "../shell/output-search.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { statusOf } from "../shell/shell-status.ts";
import { monotonicMs } from "../support/clock.ts";
import { defined } from "../support/defined.ts";
import { NacreError } from "../support/errors.ts";
import { OUTPUT_NOTES_MAX_CHARS, REDACT_HOLD_MAX_CHARS, SEARCH_TURN_MS } from "../support/limits.ts";
import { yieldTurn } from "../support/timing.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { sandboxOf } from "./confinement-notes.ts";
import { statusLine } from "./endings.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import type { BashOutputMetadata } from "./output-metadata.ts";
import { checkWait, type WaitArguments } from "./output-wait.ts";
import { sanitizerFor } from "./render.ts";
import type { TextSanitizer } from "./spool-text.ts";
import { withoutCodes } from "./terminal-view.ts";

export interface ReadingArguments {
  readonly search?: string | undefined;
  readonly context_lines?: number | undefined;
  readonly from_line?: number | undefined;
  readonly max_lines?: number | undefined;
  readonly tail_lines?: number | undefined;
  readonly stream?: "stdout" | "stderr" | undefined;
}

const NAMES = ["search", "context_lines", "from_line", "max_lines", "tail_lines", "stream"] as const;

/** Whether the call reads all output rather than only new output. */
export function isReading(args: ReadingArguments): boolean {
  return NAMES.some((name) => args[name] !== undefined);
}

export function checkCombination(
  args: ReadingArguments & WaitArguments & { readonly filter?: string | undefined },
): void {
  checkWait(args);
  const reading = NAMES.find((name) => args[name] !== undefined);
  const other = (["filter", "wait_for", "wait_for_port", "wait_for_file"] as const).find(
    (name) => args[name] !== undefined,
  );
  if (reading === undefined || other === undefined) return;
  const text = `${reading} and ${other} exclude each other: ${reading} reads all output and marks nothing as read, ${other} is about new output. Make one call for each.`;
  throw new NacreError("invalid_input", text);
}

export async function readLines(
  shell: ShellProcess,
  args: ReadingArguments & Pick<WaitArguments, "wait_ms">,
  { signal }: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<ToolResult<BashOutputMetadata>> {
  // Read the outcome before the output: once the outcome is known, all output is on disk.
  const { outcome, durationMs } = shell;
  const head = statusLine(outcome, durationMs);
  const found = await shell.search(args.search, searchOf(args, signal, options.maxOutputChars - head.length));
  const text = await textOf(found, shell, sanitizerFor(shell.terminal ? withoutCodes(options) : options));
  const metadata: BashOutputMetadata = {
    bash_id: shell.id,
    status: statusOf(outcome),
    exit_code: outcome ? codeOf(outcome) : null,
    is_running: outcome === undefined,
    duration_ms: durationMs,
    truncated: found.next !== undefined,
    sandbox: sandboxOf(shell.confinement),
    ...(args.search === undefined ? {} : { matches: found.matches }),
    searched_lines: found.searchedLines,
    last_line: found.lastLine,
  };
  const none = args.search === undefined ? "(no output)" : "(no line matched)";
  const output = `${head}\n\n${text === "" ? none : text}`;
  return ToolResult.ok(output, metadata, { notes: [...moreNote(found, args), ...boundNotes(found, args)] });
}

function searchOf(
  args: ReadingArguments & Pick<WaitArguments, "wait_ms">,
  signal: AbortSignal | undefined,
  maxChars: number,
): SearchOptions {
  const { context_lines, from_line, max_lines, tail_lines, stream, wait_ms } = args;
  return {
    maxChars: Math.max(1, maxChars - OUTPUT_NOTES_MAX_CHARS),
    ...defined({
      contextLines: context_lines,
      fromLine: from_line,
      maxLines: max_lines,
      tailLines: tail_lines,
      stream,
      signal,
      timeoutMs: wait_ms === undefined ? undefined : Math.max(1, wait_ms),
    }),
  };
}

/** The lines as `stdout:12: text`. Two dashes separate groups of lines. */
async function textOf(
  { lines }: SearchResult,
  shell: ShellProcess,
  sanitize: TextSanitizer,
): Promise<string> {
  const parts: string[] = [];
  let turnMs = monotonicMs();
  const hasContext = lines.some(({ isMatch }) => !isMatch);
  let isInKey = false;
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1];
    const follows = before?.stream === line.stream && before.line === line.line - 1;
    if (!follows) isInKey = isAfterKeyStart(line, shell);
    if (!follows && before && hasContext) parts.push("--");
    parts.push(`${line.stream}:${line.line}: ${isInKey ? KEY_MARK : sanitize(line.text)}`);
    isInKey = KEY_BEGIN.test(line.text) || (isInKey && !KEY_END.test(line.text));
    // A result can contain thousands of short lines, each of which must be read and redacted. So yield to the event
    // loop between lines.
    if (monotonicMs() - turnMs < SEARCH_TURN_MS) continue;
    await yieldTurn();
    turnMs = monotonicMs();
  }
  return parts.join("\n");
}

/**
 * Matches the first line of a private key. The lines after it are recognizable as a key only together with this line.
 */
const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const KEY_END = /-----END /;
const KEY_MARK = "[redacted:private key]";

function isAfterKeyStart({ stream, offset }: ShownLine, { outputFiles }: ShellProcess): boolean {
  const from = Math.max(0, offset - REDACT_HOLD_MAX_CHARS);
  const text = readRange(outputFiles[stream], from, offset).toString("latin1");
  const begin = text.lastIndexOf("-----BEGIN ");
  return begin >= 0 && KEY_BEGIN.test(text.slice(begin)) && !KEY_END.test(text.slice(begin));
}

/** Explains how to see the lines that do not fit. */
function moreNote({ next, matches, lines }: SearchResult, { search, max_lines }: ReadingArguments): string[] {
  if (!next) return [];
  const shown = lines.filter(({ isMatch }) => isMatch).length;
  const rest = `from_line=${next.line} and stream="${next.stream}"`;
  if (search !== undefined) return [`Shows ${shown} of ${matches} matching lines. Continue with ${rest}.`];
  return max_lines === undefined || shown < max_lines ? [`There is more. Continue with ${rest}.`] : [];
}

/** Says how far a search got before its time was up. */
function boundNotes({ streams }: SearchResult, { wait_ms }: Pick<WaitArguments, "wait_ms">): string[] {
  const limit = wait_ms === undefined ? "its time" : `${wait_ms}ms`;
  return streams
    .filter(({ isComplete }) => !isComplete)
    .map(
      (stream) =>
        `The search stopped after ${limit}: it got to line ${stream.lastLine} of ${stream.stream} (${percent(stream)} % of its bytes). Continue with from_line=${stream.lastLine + 1} and stream="${stream.stream}".`,
    );
}

function percent({ searchedBytes, totalBytes }: SearchedStream): number {
  return Math.floor((100 * searchedBytes) / Math.max(1, totalBytes));
}
