// The Bash tool of the `shells` dialect: one command, in the foreground or the background.
import { z } from "zod";
import { describeOutcome } from "../shell/outcome.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, OUTPUT_MAX_CHARS } from "../support/limits.ts";
import type { ToolCategory } from "../tool/category.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations } from "../tool/tool.ts";
import { admit, isCancelled } from "./admit.ts";
import { startBackground } from "./background.ts";
import { bashDescription } from "./bash-description.ts";
import { runForeground } from "./foreground.ts";
import { type Leftover, leftoversOf } from "./leftovers.ts";
import { notesOn } from "./notes.ts";
import { type ExecutionOptions, type ResolvedExecutionOptions, resolveExecutionOptions } from "./options.ts";
import { render, wholeOutput } from "./render.ts";
import { NotBash } from "./syntax-check.ts";

export interface BashMetadata {
  readonly command: string;
  readonly description: string;
  readonly exit_code: number | null;
  readonly duration_ms: number;
  readonly truncated: boolean;
  readonly signal?: string;
  readonly timeout_ms?: number;
  readonly dry_run?: boolean;
  readonly bash_id?: string;
  readonly output_file?: string;
  readonly leftovers?: readonly Leftover[];
  readonly containment?: string;
}

type BashInput = ReturnType<typeof inputOf>;

export class BashTool extends BaseTool<BashInput, BashMetadata> {
  static readonly DEFAULT_TIMEOUT_MS = DEFAULT_TIMEOUT_MS;
  static readonly MAX_TIMEOUT_MS = MAX_TIMEOUT_MS;
  static readonly MAX_OUTPUT_SIZE = OUTPUT_MAX_CHARS;

  readonly name = "Bash";
  override readonly title = "Run a command";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, openWorldHint: true };
  readonly description: string;
  readonly input: BashInput;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
    this.description = bashDescription(this.#options);
    this.input = inputOf(this.#options);
  }

  protected async run(
    context: ExecutionContext,
    args: z.output<BashInput>,
  ): Promise<ToolResult<BashMetadata>> {
    const { command, description = "" } = args;
    const asked = { command, description };
    const background = args.run_in_background;
    try {
      await admit(command, context, this.#options);
      if (context.dryRun) {
        return ToolResult.ok<Partial<BashMetadata>>(`[Dry Run] Would execute: ${command}`, {
          ...asked,
          dry_run: true,
        });
      }
      if (background) return await this.#startBackground(context, asked);
      return await this.#runForeground(context, asked, args.timeout ?? context.timeoutMs);
    } catch (error) {
      if (isCancelled(error, context)) throw error;
      return failedStart(error, background, asked);
    }
  }

  async #startBackground(context: ExecutionContext, asked: Asked): Promise<ToolResult<BashMetadata>> {
    const shell = await startBackground(asked.command, context, this.#options);
    return started(shell, asked, this.#options);
  }

  async #runForeground(
    context: ExecutionContext,
    asked: Asked,
    timeout: number | undefined,
  ): Promise<ToolResult<BashMetadata>> {
    const { maxTimeoutMs, defaultTimeoutMs, onTimeout } = this.#options;
    const timeoutMs = Math.min(timeout ?? defaultTimeoutMs, maxTimeoutMs);
    const plan = { command: asked.command, timeoutMs, streams: "split", onTimeout } as const;
    const { shell, wentOn } = await runForeground(plan, context, this.#options);
    return wentOn
      ? await this.#goesOn(shell, asked, timeoutMs)
      : await this.#ended(shell, asked, context, timeoutMs);
  }

  async #ended(
    shell: ShellProcess,
    asked: Asked,
    context: ExecutionContext,
    timeoutMs: number,
  ): Promise<ToolResult<BashMetadata>> {
    const { outcome } = shell;
    const leftovers = await leftoversOf(shell);
    const { text, truncated, outputFile } = await render(wholeOutput(shell), this.#options);
    const metadata: BashMetadata = {
      ...asked,
      exit_code: shell.exitCode,
      duration_ms: shell.durationMs,
      truncated,
      containment: this.#options.manager().containment,
      ...(shell.signal === null ? {} : { signal: shell.signal }),
      ...(outcome?.kind === "timedOut" ? { timeout_ms: timeoutMs } : {}),
      ...(outputFile === undefined ? {} : { output_file: outputFile }),
      // Whoever is left can be ended under this id.
      ...(leftovers.length === 0 ? {} : { leftovers, bash_id: shell.id }),
    };
    const howToEnd = `KillShell with shell_id="${shell.id}" ends it.`;
    const notes = notesOn({ shell, leftovers, context, options: this.#options, howToEnd });
    const fail = (error: string, code: NacreError["code"]) =>
      ToolResult.fail<BashMetadata>(error, { code, output: text, metadata, notes });
    switch (outcome?.kind) {
      case "exited":
        if (outcome.code === 0) return ToolResult.ok(text, metadata, { notes });
        return fail(`Command failed with exit code ${outcome.code}`, "exit_nonzero");
      case "signaled":
        return fail(`Command failed with exit code ${outcome.code} (${outcome.signal})`, "exit_nonzero");
      case "timedOut":
        return fail(`Command timed out after ${timeoutMs}ms`, "timed_out");
      case "aborted":
        return fail("Command was cancelled by the caller and ended with everything it started", "aborted");
      case "killed":
        return fail(`Command was ${describeOutcome(outcome)}`, "aborted");
      default: {
        const words = outcome ? describeOutcome(outcome) : "it did not end";
        return fail(
          `Failed to execute command: ${words}`,
          outcome?.kind === "failedToStart" ? "spawn_failed" : "internal",
        );
      }
    }
  }

  async #goesOn(shell: ShellProcess, asked: Asked, timeoutMs: number): Promise<ToolResult<BashMetadata>> {
    const { text, truncated, outputFile } = await render(wholeOutput(shell), this.#options);
    const words = `Command is still running after ${timeoutMs}ms and goes on as background shell: ${shell.id}\nUse BashOutput with bash_id="${shell.id}" to read what it prints from the start, KillShell to end it.`;
    return ToolResult.ok<BashMetadata>(text === "" ? words : `${words}\nSo far it has printed:\n${text}`, {
      ...asked,
      exit_code: null,
      duration_ms: shell.durationMs,
      truncated,
      timeout_ms: timeoutMs,
      bash_id: shell.id,
      containment: this.#options.manager().containment,
      ...(outputFile === undefined ? {} : { output_file: outputFile }),
    });
  }
}

interface Asked {
  readonly command: string;
  readonly description: string;
}

function inputOf({ defaultTimeoutMs, maxTimeoutMs }: ResolvedExecutionOptions) {
  return z.object({
    command: z.string().min(1).describe("The bash command or script to run. May have many lines."),
    description: z.string().optional().describe("What it does, in 5 to 10 words, for the person who watches"),
    timeout: z
      .int()
      .min(Math.min(1000, maxTimeoutMs))
      .max(maxTimeoutMs, { error: `Timeout exceeds maximum: ${maxTimeoutMs}ms` })
      .optional()
      .describe(
        `Milliseconds the command may take, ${defaultTimeoutMs} if not given. Not for background commands.`,
      ),
    run_in_background: z
      .boolean()
      .default(false)
      .describe("Return at once and let it run; read it with BashOutput, end it with KillShell"),
  });
}

function started(
  shell: ShellProcess,
  asked: Asked,
  options: ResolvedExecutionOptions,
): ToolResult<BashMetadata> {
  const words = [
    `Started background shell: ${shell.id}`,
    `Command: ${asked.command}`,
    `Use BashOutput with bash_id="${shell.id}" to read its output (wait_for waits for a line or for "exit"), KillShell to end it.`,
  ];
  return ToolResult.ok<Partial<BashMetadata>>(words.join("\n"), {
    ...asked,
    bash_id: shell.id,
    containment: options.manager().containment,
  });
}

function failedStart(error: unknown, background: boolean, asked: Asked): ToolResult<BashMetadata> {
  if (error instanceof NotBash) {
    return ToolResult.fail<BashMetadata>(error.message, {
      code: error.code,
      output: `[stderr]\n${error.complaint}`,
      metadata: { ...asked, exit_code: 2, truncated: false },
      notes: ["bash cannot read the command: nothing was run."],
    });
  }
  const code = error instanceof NacreError ? error.code : "internal";
  // What the policy says stands for itself.
  const plain = code === "policy_denied" || code === "approval_refused";
  const prefix = background ? "Failed to start background shell: " : "Failed to execute command: ";
  return ToolResult.fail(`${plain ? "" : prefix}${messageOf(error)}`, { code, metadata: asked });
}
