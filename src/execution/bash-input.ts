// The BashInput tool: types text and keys into the terminal of a background shell, and shows its screen.
//
//   run
//     judgeTyped           admits a line typed at an idle shell prompt as if it were a command (typed-lines.ts)
//     ShellTerminal.type   types the text, then the keys; refuses text at a prompt for a secret
//     settle               waits until the program waits for input again, ends, or the time is up
//     viewTerminal         returns the screen, without secrets (terminal-view.ts)
import { z } from "zod";
import { codeOf } from "../shell/outcome.ts";
import { statusOf } from "../shell/shell-status.ts";
import { throwIfAborted } from "../support/abort.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { TERMINAL_KEYS_MAX_COUNT, TERMINAL_WAIT_MS, WAIT_MAX_MS } from "../support/limits.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import { statusLine } from "./endings.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import { type RefusalMetadata, refusalMetadata } from "./refusal.ts";
import { findShell } from "./scope.ts";
import { type TerminalMetadata, viewTerminal } from "./terminal-view.ts";
import { judgeTyped } from "./typed-lines.ts";

const INPUT = z.object({
  bash_id: z.string().describe("The id of a shell that Bash started with terminal"),
  text: z.string().optional().describe("Typed first. A newline is Enter"),
  keys: z
    .array(z.string())
    .max(TERMINAL_KEYS_MAX_COUNT)
    .optional()
    .describe(
      "Pressed after the text: Enter, Tab, Escape, Backspace, Delete, Up, Down, Left, Right, Home, End, PageUp, PageDown, F1-F12, Ctrl-<letter>, Alt-<letter>",
    ),
  wait_ms: z
    .int()
    .min(0)
    .max(WAIT_MAX_MS)
    .optional()
    .describe(`Maximum wait for the program to wait for input again, ${TERMINAL_WAIT_MS} if not given`),
});

/** The arguments of a BashInput call. */
export type BashInputArguments = z.input<typeof INPUT>;

export interface BashInputMetadata extends TerminalMetadata, RefusalMetadata {
  readonly bash_id: string;
  readonly status: string;
  readonly exit_code: number | null;
  readonly is_running: boolean;
  readonly duration_ms: number;
}

export class BashInputTool extends BaseTool<typeof INPUT, BashInputMetadata> {
  readonly name = "BashInput";
  override readonly title = "Type into a terminal";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, openWorldHint: true };
  readonly description =
    `Types into a command that Bash started with run_in_background and terminal: answers questions, drives REPLs, editors, pagers and menus. Returns the screen as plain text, where * marks the rows that changed, and waiting: what the program waits for ("line": text and Enter; "key": single keys, or text and Enter in a REPL, a shell or another prompt with a line editor; "secret"; "maybe": read the screen; "no").

The call returns when the program waits for input again, ends, or after wait_ms. Without text and keys it only waits. Type one answer per call and read the screen before the next one. If waiting is "no", call again without text to wait, or press Ctrl-C.
At a prompt for a password or another secret, text is refused: ask the user to type it with nacre attach. To leave: Ctrl-C, Ctrl-D (end of input), q, or KillShell.`;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
  }

  protected async run(
    context: ExecutionContext,
    { bash_id, text = "", keys = [], wait_ms = TERMINAL_WAIT_MS }: z.output<typeof INPUT>,
  ): Promise<ToolResult<BashInputMetadata>> {
    const shell = findShell(this.#options.manager(), bash_id, context);
    const terminal = shell.needTerminal();
    terminal.check({ text, keys });
    const isTyping = text !== "" || keys.length > 0;
    if (isTyping) {
      const line = await judgeTyped(shell, { text, keys }, context, this.#options);
      if (context.dryRun) {
        const metadata = { bash_id, dry_run: true } as unknown as BashInputMetadata;
        return ToolResult.ok(
          `[Dry Run] Would type into ${bash_id}: ${JSON.stringify({ text, keys })}`,
          metadata,
        );
      }
      const since = await terminal.mark();
      await terminal.type({ text, keys });
      line.typed();
      await terminal.settle(wait_ms, { since, signal: context.signal });
    } else await terminal.settle(wait_ms, { signal: context.signal });
    throwIfAborted(context.signal);
    // Read the outcome before the screen: once the outcome is known, all output is on disk.
    const { outcome, durationMs } = shell;
    const shown = await viewTerminal(shell, context, this.#options);
    const metadata: BashInputMetadata = {
      bash_id: shell.id,
      status: statusOf(outcome),
      exit_code: outcome ? codeOf(outcome) : null,
      is_running: outcome === undefined,
      duration_ms: durationMs,
      ...shown.metadata,
    };
    return ToolResult.ok(`${statusLine(outcome, durationMs)}\n\n${shown.text}`, metadata, {
      notes: shown.notes,
    });
  }

  protected override failed(
    error: unknown,
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): ToolResult<BashInputMetadata> {
    if (!(error instanceof NacreError)) return super.failed(error, context, args);
    const metadata = { bash_id: args.bash_id, ...refusalMetadata(error) } as Partial<BashInputMetadata>;
    return ToolResult.fail<BashInputMetadata>(messageOf(error), { code: error.code, metadata });
  }
}
