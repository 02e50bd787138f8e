// The BashOutput tool: returns the status of a background shell, and its output since this reader's last read.
import { z } from "zod";
import { firstToEnd } from "../shell/finished-shells.ts";
import { codeOf } from "../shell/outcome.ts";
import { checkPresent } from "../shell/output-search.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { statusOf } from "../shell/shell-status.ts";
import type { WaitResult } from "../shell/wait-for.ts";
import { throwIfAborted } from "../support/abort.ts";
import { defined } from "../support/defined.ts";
import { NacreError } from "../support/errors.ts";
import { MATCH_NOTE_MAX_CHARS, WAIT_DEFAULT_MS, WAIT_MAX_MS } from "../support/limits.ts";
import type { LinePattern } from "../text/filter.ts";
import { truncateText } from "../text/truncate.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import { isConfined, sandboxOf } from "./confinement-notes.ts";
import { statusLine } from "./endings.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import type { BashOutputMetadata } from "./output-metadata.ts";
import { checkCombination, isReading, readLines } from "./output-reading.ts";
import { missedWait, waitedFor, waitForOutput, waitNote } from "./output-wait.ts";
import { render, sanitizerFor } from "./render.ts";
import { findShell, readerOf, scopeOf } from "./scope.ts";
import { takeNew, truncationNotes } from "./take-new.ts";
import { viewTerminal, withoutCodes } from "./terminal-view.ts";

const INPUT = z.object({
  bash_id: z.string().describe('The id that Bash returned; "any" with wait_for "exit"'),
  filter: z.string().optional().describe("RE2 regular expression: shows only matching new lines"),
  wait_for: z.string().optional().describe('RE2 regular expression that a new line must match, or "exit"'),
  wait_for_port: z.int().optional(),
  wait_for_file: z.string().optional(),
  wait_ms: z
    .int()
    .min(0)
    .max(WAIT_MAX_MS)
    .optional()
    .describe(`Maximum wait, ${WAIT_DEFAULT_MS} if not given`),
  search: z.string().optional().describe("RE2 regular expression to find in all output"),
  context_lines: z.int().min(0).optional(),
  from_line: z.int().min(1).optional(),
  max_lines: z.int().min(1).optional(),
  tail_lines: z.int().min(1).optional(),
  stream: z.enum(["stdout", "stderr"]).optional(),
});

/** The id that means "the first shell to end". */
const ANY = "any";

/** The arguments of a BashOutput call. */
export type BashOutputArguments = z.input<typeof INPUT>;

export class BashOutputTool extends BaseTool<typeof INPUT, BashOutputMetadata> {
  readonly name = "BashOutput";
  override readonly title = "Read a background shell";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { readOnlyHint: true };
  readonly description =
    `Returns a background shell's output since your last call, its status, and its exit code if it ended. Does NOT restart or end anything.

To wait, set wait_for (until a new line matches, or "exit"), wait_for_port (until the shell listens on it) or wait_for_file (until this file exists). Do NOT call this in a loop or with sleep: one call is enough: it returns early if the shell ends. bash_id "any" waits for the first shell to end.
To read ALL output, even of ended shells and truncated Bash results, set search, from_line or tail_lines. This returns numbered lines (stdout:1234: text) and marks nothing as read. Do NOT run a command again to see its output.
filter shows only matching lines; the others count as read. While the shell runs, you get only whole lines.`;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
  }

  /** Returns undefined if no shell has ended in time. */
  async #shellOf(args: z.output<typeof INPUT>, context: ExecutionContext): Promise<ShellProcess | undefined> {
    const manager = this.#options.manager();
    if (args.bash_id !== ANY) return findShell(manager, args.bash_id, context);
    if (args.wait_for !== "exit")
      throw new NacreError("invalid_input", 'bash_id "any" works only with wait_for "exit".');
    const shells = manager.finished.unreported(scopeOf(context));
    return await firstToEnd(shells, args.wait_ms ?? WAIT_DEFAULT_MS, context.signal);
  }

  protected async run(
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): Promise<ToolResult<BashOutputMetadata>> {
    checkCombination(args);
    const filter = args.filter === undefined ? undefined : await compile(args.filter, "filter");
    const pattern =
      args.wait_for === undefined || args.wait_for === "exit"
        ? undefined
        : await compile(args.wait_for, "wait_for");
    const shell = await this.#shellOf(args, context);
    if (!shell) return noShellEnded(args);
    checkPresent(shell.id, shell.outputParts);
    if (isReading(args)) return await readLines(shell, args, context, this.#options);
    const waited = await waitForOutput(shell, args, pattern, context);
    const screen = shell.terminal && (await viewTerminal(shell, context, this.#options));

    // A cancelled call must not move the cursor.
    throwIfAborted(context.signal);

    // Read the outcome once, and before the output: once the outcome is known, all output is on disk.
    const { outcome } = shell;
    const running = outcome === undefined;
    const durationMs = shell.durationMs;
    const parts = takeNew(shell, readerOf(context), running);
    const hiddenUnder = isConfined(shell.confinement) ? () => shell.id : undefined;
    const textOptions = shell.terminal ? withoutCodes(this.#options) : this.#options;
    const rendered = await render(parts, textOptions, { filter, hiddenUnder });
    const metadata: BashOutputMetadata = {
      bash_id: shell.id,
      status: statusOf(outcome),
      exit_code: outcome ? codeOf(outcome) : null,
      is_running: running,
      duration_ms: durationMs,
      truncated: rendered.truncated,
      sandbox: sandboxOf(shell.confinement),
      ...defined({ output_file: rendered.outputFile, waited_for: waitedFor(waited) }),
      ...screen?.metadata,
    };
    const text = rendered.text === "" ? "(no new output since last check)" : rendered.text;
    const output = `${statusLine(outcome, durationMs)}\n\n${screen ? screen.withOutput(rendered.text, filter !== undefined) : text}`;
    const notes = [
      ...(screen?.notes ?? []),
      ...(running ? truncationNotes(shell, readerOf(context)) : shell.remarks),
      ...(rendered.skipped > 0 ? [`The filter left out ${count(rendered.skipped, "line")}.`] : []),
      ...waitNote(waited, args),
      ...matchNote(waited, pattern, rendered.text, this.#options),
    ];
    const missed = missedWait(shell.id, waited, args);
    if (missed) return ToolResult.fail(missed.error, { code: missed.code, output, metadata, notes });
    return ToolResult.ok(output, metadata, { notes });
  }
}

/** The result if no shell has ended in time. */
function noShellEnded({ wait_ms = WAIT_DEFAULT_MS }: z.output<typeof INPUT>): ToolResult<BashOutputMetadata> {
  const text = `No background shell has ended within ${wait_ms}ms.`;
  return ToolResult.ok(text, { waited_for: "timeout" } as BashOutputMetadata);
}

async function compile(source: string, name: string): Promise<LinePattern> {
  const { compilePattern } = await import("../text/pattern.ts");
  return compilePattern(source, name);
}

/**
 * A note with the matched line, if the output does not show that line: it is a prompt without a newline, or the
 * filter removed it.
 */
function matchNote(
  waited: WaitResult | undefined,
  pattern: LinePattern | undefined,
  shown: string,
  options: ResolvedExecutionOptions,
): string[] {
  if (waited?.kind !== "matched" || !pattern) return [];
  const line = sanitizerFor(options)(waited.line).replace(/\r$/, "");
  if (shown.includes(line)) return [];
  return [`Matched, but not shown above: ${truncateText(line, { limitChars: MATCH_NOTE_MAX_CHARS }).text}`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
