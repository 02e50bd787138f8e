// The Bash tool of the `shells` dialect: runs one command in the session of the call, or starts it in the background
// with the state of that session.
//
//   run
//     admit                 checks whether the command may run (admission.ts)
//     runAdmitted           waits for its turn, then runs it in its session (start-command.ts, session/session.ts)
//     bashResult            builds the result for the model (bash-result.ts)
import type { z } from "zod";
import type { TerminalSize } from "../engine/meta.ts";
import type { RunOptions } from "../session/session-options.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { defined } from "../support/defined.ts";
import { NacreError } from "../support/errors.ts";
import {
  DEFAULT_TIMEOUT_MS,
  MAX_TIMEOUT_MS,
  OUTPUT_MAX_CHARS,
  PREVIEW_PATHS_MAX_COUNT,
} from "../support/limits.ts";
import { terminalSizeOf } from "../terminal/terminal-size.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import { type Admitted, admit, dryRunLine, isCancelled } from "./admission.ts";
import { type BashInput, bashInputOf } from "./bash-arguments.ts";
import { bashDescription } from "./bash-description.ts";
import { type BashMetadata, bashResult } from "./bash-result.ts";
import { timingOf } from "./call-timing.ts";
import { CommandDiagnosis } from "./command-diagnosis.ts";
import { sandboxOf } from "./confinement-notes.ts";
import { DENY_RULES } from "./dangerous-patterns.ts";
import { notRunResult } from "./endings.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import { backgroundPreview, previewResult } from "./preview-result.ts";
import { runPreview } from "./preview-run.ts";
import { reportProgress } from "./progress.ts";
import { sanitizerFor } from "./render.ts";
import { runAdmitted, sessionTarget, startInSession } from "./start-command.ts";

export interface DangerousPattern {
  readonly id: string;
  readonly reason: string;
}

/** The metadata of a background start. There is no ending to report yet. */
export interface BashStartMetadata
  extends Pick<BashMetadata, "command" | "description" | "containment" | "sandbox"> {
  readonly bash_id: string;
}

/** The arguments of a Bash call. */
export type BashArguments = z.input<BashInput>;

export class BashTool extends BaseTool<BashInput, BashMetadata> {
  static readonly DEFAULT_TIMEOUT_MS = DEFAULT_TIMEOUT_MS;
  static readonly MAX_TIMEOUT_MS = MAX_TIMEOUT_MS;
  static readonly MAX_OUTPUT_SIZE = OUTPUT_MAX_CHARS;
  /** The rules that always deny. Each entry has the id of a rule and its reason for an example command. */
  static readonly DANGEROUS_PATTERNS: readonly DangerousPattern[] = Object.freeze(
    DENY_RULES.map((rule) => Object.freeze({ ...rule })),
  );

  static {
    // Freeze the class: otherwise an assignment to a static property would seem to work, but would not change what
    // the policy denies.
    Object.freeze(BashTool);
  }

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
    this.input = bashInputOf(this.#options);
  }

  protected async run(
    context: ExecutionContext,
    args: z.output<BashInput>,
  ): Promise<ToolResult<BashMetadata>> {
    const { command, run_in_background: background, terminal = false, preview: isPreview = false } = args;
    const asked = askedOf(args);
    const session = sessionTarget(context, this.#options);
    const size = sizeOf(args);
    if (isPreview && background) return backgroundPreview();
    if (isPreview) return await this.#preview(context, args);
    const admitted = await admit(
      { command, background, session, terminal, ...descriptionOf(asked) },
      context,
      this.#options,
    );
    if (context.dryRun) {
      const metadata = { ...asked, dry_run: true };
      return ToolResult.ok(dryRunLine(admitted), metadata as BashMetadata);
    }
    if (background) {
      const shell = await startInSession(admitted, {
        durable: this.#options.durable,
        terminal,
        ...size,
        ...descriptionOf(asked),
      });
      this.#options.manager().finished.track(shell);
      return started(shell, asked, this.#options);
    }
    return await this.#runForeground(admitted, asked, args.timeout ?? context.timeoutMs);
  }

  protected override failed(
    error: unknown,
    context: ExecutionContext,
    args: z.output<BashInput>,
  ): ToolResult<BashMetadata> {
    if (isCancelled(error, context)) return super.failed(error, context, args);
    const prefix = args.run_in_background
      ? "Failed to start background shell: "
      : "Failed to execute command: ";
    return notRunResult<BashMetadata>(error, { metadata: askedOf(args), prefix });
  }

  async #preview(context: ExecutionContext, args: z.output<BashInput>): Promise<ToolResult<BashMetadata>> {
    const { command, description = "" } = args;
    const session = sessionTarget(context, this.#options);
    const admitted = await admit(
      { command, background: false, session, isPreview: true },
      context,
      this.#options,
    );
    if (context.dryRun) {
      return ToolResult.ok(dryRunLine(admitted), { ...askedOf(args), dry_run: true } as BashMetadata);
    }
    const { timeoutMs, backgroundAfterMs } = timingOf(args.timeout ?? context.timeoutMs, this.#options);
    // A preview cannot continue in the background, because its effects are known only when the command has ended.
    const longest = Math.min(
      timeoutMs ?? Number.POSITIVE_INFINITY,
      backgroundAfterMs ?? Number.POSITIVE_INFINITY,
    );
    const previewed = await runPreview(
      admitted,
      longest === Number.POSITIVE_INFINITY ? {} : { timeoutMs: longest },
    );
    return await previewResult(previewed, admitted, {
      description,
      howToCommit: (id) =>
        `Preview with preview_id="${id}" and action "commit" writes it, "discard" drops it.`,
      maxPaths: PREVIEW_PATHS_MAX_COUNT,
      isReaderConfined: this.#options.sandbox !== "off",
    });
  }

  async #runForeground(
    admitted: Admitted,
    asked: Asked,
    timeout: number | undefined,
  ): Promise<ToolResult<BashMetadata>> {
    const { context, options } = admitted;
    const timing = timingOf(timeout, options, admitted.waitedMs);
    const { onProgress } = context;
    let stopProgress = () => {};
    const diagnosis = new CommandDiagnosis(timing);
    const onStart: NonNullable<RunOptions["onStart"]> = (output) => {
      diagnosis.start(output);
      if (onProgress) stopProgress = reportProgress(output, context, sanitizerFor(options));
    };
    const onWait = onProgress && ((before: number) => onProgress({ message: waitingMessage(before) }));
    try {
      const result = await runAdmitted(admitted, {
        ...timing,
        onStart,
        ...descriptionOf(asked),
        ...defined({ onWait }),
      });
      diagnosis.stop();
      return await bashResult(result, { asked, context, options, timing, diagnosis: diagnosis.result });
    } finally {
      diagnosis.stop();
      stopProgress();
    }
  }
}

type Asked = Pick<BashMetadata, "command" | "description">;

function askedOf({ command, description = "" }: z.output<BashInput>): Asked {
  return { command, description };
}

/** The description. nacre stores it with the shell if the command becomes a background shell. */
function descriptionOf({ description }: Asked): Partial<Pick<Asked, "description">> {
  return description === "" ? {} : { description };
}

/** The size of the terminal. Throws if the call asks for a terminal but cannot have one. */
function sizeOf({
  terminal = false,
  run_in_background,
  preview = false,
  timeout,
  rows,
  cols,
}: z.output<BashInput>): Partial<TerminalSize> {
  if (terminal && preview) {
    throw new NacreError(
      "invalid_input",
      "A preview cannot have a terminal, because its changes are known only at its end. Leave out terminal or preview.",
    );
  }
  if (terminal && timeout !== undefined) {
    throw new NacreError(
      "invalid_input",
      "A command with a terminal has no timeout: it runs until it ends. Leave out timeout, and end the command with KillShell or Ctrl-C if it takes too long.",
    );
  }
  if (terminal && !run_in_background) {
    throw new NacreError(
      "invalid_input",
      "A command with a terminal runs in the background: set run_in_background to true as well, then type with BashInput.",
    );
  }
  if (terminal) return terminalSizeOf({ rows, cols });
  if (rows === undefined && cols === undefined) return {};
  throw new NacreError(
    "invalid_input",
    "rows and cols are the size of a terminal: set terminal to true as well.",
  );
}

function started(
  shell: ShellProcess,
  asked: Asked,
  options: ResolvedExecutionOptions,
): ToolResult<BashMetadata> {
  const lines = [
    `Started background shell: ${shell.id}`,
    `Command: ${asked.command}`,
    shell.terminal
      ? `Use BashInput with bash_id="${shell.id}" to type and to see the screen, BashOutput to read its output, KillShell to end it.`
      : `Use BashOutput with bash_id="${shell.id}" to read its output (wait_for waits for a line or for "exit"), KillShell to end it.`,
  ];
  const metadata = {
    ...asked,
    bash_id: shell.id,
    containment: options.manager().containment,
    sandbox: sandboxOf(shell.confinement),
  };
  return ToolResult.ok(lines.join("\n"), metadata as BashStartMetadata as BashMetadata, {
    notes: shell.startRemarks,
  });
}

function waitingMessage(before: number): string {
  return before === 1
    ? "Waiting for the previous command in this session to finish."
    : `Waiting for ${before} earlier commands in this session to finish.`;
}
