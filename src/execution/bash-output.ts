// The BashOutput tool: the status of a background shell, and its output since the last read of this reader.
import { z } from "zod";
import { codeOf, describeOutcome } from "../shell/outcome.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { statusOf } from "../shell/shell-status.ts";
import { missedLineCode, type WaitResult } from "../shell/wait-for.ts";
import { throwIfAborted } from "../support/abort.ts";
import { defined } from "../support/defined.ts";
import { MATCH_NOTE_MAX_CHARS, WAIT_DEFAULT_MS, WAIT_MAX_MS } from "../support/limits.ts";
import type { LinePattern } from "../text/filter.ts";
import { plainText } from "../text/terminal.ts";
import { truncateText } from "../text/truncate.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import { sandboxOf } from "./confinement-notes.ts";
import { statusLine } from "./endings.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import { render, sanitizerFor } from "./render.ts";
import { findShell, readerOf } from "./scope.ts";
import { hasNew, takeNew, truncationNotes } from "./take-new.ts";

export interface BashOutputMetadata {
  readonly bash_id: string;
  readonly status: string;
  readonly exit_code: number | null;
  readonly is_running: boolean;
  readonly duration_ms: number;
  readonly truncated: boolean;
  readonly output_file?: string;
  /** The sandbox that the shell runs in. */
  readonly sandbox?: string;
}

const INPUT = z.object({
  bash_id: z.string().describe("The id of the shell, as Bash returned it"),
  filter: z
    .string()
    .optional()
    .describe("RE2 regular expression: shows only matching lines; the others count as read"),
  wait_for: z
    .string()
    .optional()
    .describe('RE2 regular expression to wait for in new lines, or "exit" to wait for the end'),
  wait_ms: z
    .int()
    .min(0)
    .max(WAIT_MAX_MS)
    .optional()
    .describe(`Maximum wait in milliseconds; ${WAIT_DEFAULT_MS} if only wait_for is given`),
});

/** The arguments of a call of BashOutput. */
export type BashOutputArguments = z.input<typeof INPUT>;

export class BashOutputTool extends BaseTool<typeof INPUT, BashOutputMetadata> {
  readonly name = "BashOutput";
  override readonly title = "Read a background shell";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { readOnlyHint: true };
  readonly description =
    `Returns the output of a background shell since your last call, its status, and its exit code if it ended.

Set wait_for to a regular expression (for example "listening on") to wait until a new line matches, or to "exit" to wait until the command ends; wait_ms limits the wait. Do NOT call this in a loop with sleep: one call with wait_for is enough. It returns early when the shell ends.
filter shows only matching lines; the other lines count as read and are NOT shown again.
While the shell runs, you get only whole lines; a line without its newline follows when it is complete, or when the shell ends.
Also works for shells that have ended. Does NOT restart or end anything.`;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
  }

  protected async run(
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): Promise<ToolResult<BashOutputMetadata>> {
    const filter = args.filter === undefined ? undefined : await compile(args.filter, "filter");
    const pattern =
      args.wait_for === undefined || args.wait_for === "exit"
        ? undefined
        : await compile(args.wait_for, "wait_for");
    const shell = findShell(this.#options.manager(), args.bash_id, context);
    const waited = await waitFor(shell, args, pattern, context);

    // A cancelled call must not move the cursor.
    throwIfAborted(context.signal);

    // Read the outcome once, and before the output: when the end is known, all output is on disk.
    const { outcome } = shell;
    const running = outcome === undefined;
    const durationMs = shell.durationMs;
    const parts = takeNew(shell, readerOf(context), running);
    const rendered = await render(parts, this.#options, filter);
    const metadata: BashOutputMetadata = {
      bash_id: shell.id,
      status: statusOf(outcome),
      exit_code: outcome ? codeOf(outcome) : null,
      is_running: running,
      duration_ms: durationMs,
      truncated: rendered.truncated,
      sandbox: sandboxOf(shell.confinement),
      ...defined({ output_file: rendered.outputFile }),
    };
    const output = `${statusLine(outcome, durationMs)}\n\n${rendered.text === "" ? "(no new output since last check)" : rendered.text}`;
    const notes = [
      ...(running ? truncationNotes(shell, readerOf(context)) : shell.remarks),
      ...(rendered.skipped > 0 ? [`The filter left out ${count(rendered.skipped, "line")}.`] : []),
      ...waitNote(waited, args),
      ...matchNote(waited, pattern, rendered.text, this.#options),
    ];
    if (waited?.kind === "ended" && pattern) {
      return ToolResult.fail(
        `Shell ${shell.id} ${describeOutcome(waited.outcome)}, and no line matched ${JSON.stringify(pattern.source)}`,
        { code: missedLineCode(waited.outcome), output, metadata, notes },
      );
    }
    return ToolResult.ok(output, metadata, { notes });
  }
}

async function compile(source: string, name: string): Promise<LinePattern> {
  const { compilePattern } = await import("../text/pattern.ts");
  return compilePattern(source, name);
}

async function waitFor(
  shell: ShellProcess,
  args: z.output<typeof INPUT>,
  pattern: LinePattern | undefined,
  context: ExecutionContext,
): Promise<WaitResult | undefined> {
  if (args.wait_for === undefined && args.wait_ms === undefined) return undefined;
  const cursors = shell.cursors(readerOf(context));
  const from = { stdout: cursors.stdout.settle(), stderr: cursors.stderr.settle() };
  // Without a pattern or "exit", wait for any output that a read would return. Half a line does not count.
  const anything = { matches: () => hasNew(shell, readerOf(context)) };
  const matcher = pattern ? { matches: (line: string) => pattern.matches(plainText(line)) } : anything;
  const condition = args.wait_for === "exit" ? ({ exit: true } as const) : { pattern: matcher, from };
  const timeoutMs = args.wait_ms ?? WAIT_DEFAULT_MS;
  return await shell.waitUntil({ ...condition, ...defined({ signal: context.signal }) }, timeoutMs);
}

function waitNote(waited: WaitResult | undefined, args: z.output<typeof INPUT>): string[] {
  if (waited?.kind !== "expired" || args.wait_for === undefined) return [];
  const what =
    args.wait_for === "exit" ? "It has not ended" : `No line matched ${JSON.stringify(args.wait_for)}`;
  return [`${what} within ${args.wait_ms ?? WAIT_DEFAULT_MS}ms; it is still running.`];
}

/** The matched line, if the output does not show it: a prompt without a newline, or a line that the filter dropped. */
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
