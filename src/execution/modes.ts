// The `modes` dialect: one stateless tool with stdout and stderr combined in their true order.
import { z } from "zod";
import { sizeOf } from "../engine/cursor.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import {
  MODE_BACKGROUND_TIMEOUT_MS,
  MODE_DEFAULT_TIMEOUT_MS,
  MODE_SLOW_TIMEOUT_MS,
  SNIP_OVER_BYTES,
} from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import { humanizeBytes, snipParts } from "../text/snip.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import { type Admitted, admit, dryRunLine, isCancelled } from "./admission.ts";
import { sandboxDescription, sandboxNotes, sandboxOf } from "./confinement-notes.ts";
import { type CommandMetadata, endedResult, endingMetadata, notRunResult } from "./endings.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import { runForeground } from "./foreground.ts";
import { leftoversOf } from "./leftovers.ts";
import { notesOn } from "./notes.ts";
import { sanitizerFor } from "./render.ts";
import { textOf } from "./spool-text.ts";
import { startAlone } from "./start-command.ts";

export interface ModesOptions extends ExecutionOptions {
  /** The default working directory of commands, which the description shows. */
  readonly workingDir?: string;
}

export interface ModesMetadata extends CommandMetadata {
  readonly mode: "default" | "slow" | "background";
  readonly pid?: number;
}

const INPUT = z.object({
  command: z.string().min(1).describe("The shell command to run with bash"),
  mode: z
    .enum(["default", "slow", "background"])
    .optional()
    .describe(
      "default: 30 s; slow: 15 min, for builds, tests and installs; background: returns at once, up to 24 h",
    ),
});

/** The arguments of a bash call in the modes dialect. */
export type ModesArguments = z.input<typeof INPUT>;

export class BashModesTool extends BaseTool<typeof INPUT, ModesMetadata> {
  readonly name = "bash";
  override readonly title = "Run a command";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, openWorldHint: true };
  readonly description: string;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ModesOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
    this.description = description(options.workingDir, sandboxDescription(this.#options));
  }

  protected async run(
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): Promise<ToolResult<ModesMetadata>> {
    const { command, mode = "default" } = args;
    const asked = { command, mode };
    const background = mode === "background";
    const admitted = await admit({ command, background, session: null }, context, this.#options);
    if (context.dryRun) {
      const metadata = { ...asked, dry_run: true };
      return ToolResult.ok(dryRunLine(admitted), metadata as ModesMetadata);
    }
    return background ? await this.#background(admitted, asked) : await this.#foreground(admitted, asked);
  }

  protected override failed(
    error: unknown,
    context: ExecutionContext,
    args: z.output<typeof INPUT>,
  ): ToolResult<ModesMetadata> {
    if (isCancelled(error, context)) return super.failed(error, context, args);
    const { command, mode = "default" } = args;
    return notRunResult<ModesMetadata>(error, { metadata: { command, mode }, dialect: "modes" });
  }

  async #foreground(admitted: Admitted, asked: Asked): Promise<ToolResult<ModesMetadata>> {
    const { context } = admitted;
    const modeMs = asked.mode === "slow" ? MODE_SLOW_TIMEOUT_MS : MODE_DEFAULT_TIMEOUT_MS;
    // The host can set a timeout that is shorter than that of the mode, but not longer.
    const timeoutMs = Math.min(modeMs, context.timeoutMs ?? modeMs);
    const shell = await runForeground(admitted, { streams: "merged", timeoutMs });
    const leftovers = await leftoversOf(shell);
    const { text, truncated } = await snippedOutput(shell, this.#options);
    const { outcome } = shell;
    const metadata: ModesMetadata = {
      ...asked,
      exit_code: shell.exitCode,
      duration_ms: shell.durationMs,
      truncated,
      containment: this.#options.manager().containment,
      sandbox: sandboxOf(shell.confinement),
      ...endingMetadata(outcome),
      ...(truncated && { output_file: shell.outputFiles.stdout }),
      ...(leftovers.length > 0 && { leftovers, bash_id: shell.id }),
    };
    const howToEnd = `To end it: kill -9 ${leftovers.map(({ pid }) => pid).join(" ")}`;
    const { command, exitCode, remarks, workingDir } = shell;
    const ended = { command, exitCode, outcome, remarks, leftovers, workingDir };
    const notes = [
      ...notesOn({ ended, context, options: this.#options, howToEnd }),
      ...sandboxNotes(ended, shell.confinement, text),
    ];
    return endedResult(outcome, { text, metadata, notes }, "modes");
  }

  async #background(admitted: Admitted, asked: Asked): Promise<ToolResult<ModesMetadata>> {
    const shell = await startAlone(admitted, {
      streams: "merged",
      timeoutMs: MODE_BACKGROUND_TIMEOUT_MS,
      trailer: true,
      durable: true,
    });
    const pid = shell.started.commandPid;
    const file = shell.outputFiles.stdout;
    return ToolResult.ok(
      `<pid>${pid}</pid>\n<output_file>${file}</output_file>\n<reminder>To stop: kill -9 -${pid}</reminder>`,
      {
        ...asked,
        pid,
        bash_id: shell.id,
        output_file: file,
        containment: this.#options.manager().containment,
        sandbox: sandboxOf(shell.confinement),
      } as ModesMetadata,
    );
  }
}

type Asked = Pick<ModesMetadata, "command" | "mode">;

async function snippedOutput(
  shell: ShellProcess,
  options: ResolvedExecutionOptions,
): Promise<{ text: string; truncated: boolean }> {
  const path = shell.outputFiles.stdout;
  const totalBytes = sizeOf(path);
  const { head, middle, tail } = await textOf({ path, from: 0, to: totalBytes }, sanitizerFor(options));
  const whole = middle.characters === 0 ? head + tail : undefined;
  if (whole !== undefined && Buffer.byteLength(whole) <= SNIP_OVER_BYTES)
    return { text: whole, truncated: false };
  return { text: snipParts({ head, tail: whole ?? tail, totalBytes }), truncated: true };
}

function description(workingDir: string | undefined, sandbox: string): string {
  const pwd = workingDir === undefined ? "" : `\n\n<pwd>${shownPath(workingDir)}</pwd>`;
  return `Runs a shell command with bash and returns stdout and stderr combined, in the order of printing.

Each call starts a new bash: a cd, a variable or an alias does NOT carry over to the next call. stdin is empty and there is no terminal.
mode "default" (or none) allows ${MODE_DEFAULT_TIMEOUT_MS / 1000} seconds; "slow" allows ${MODE_SLOW_TIMEOUT_MS / 60_000} minutes, for builds, tests, downloads and installs. When the time is over, the command and everything it started is killed, and you get its output.
mode "background" returns at once with a pid and an output file, and runs for up to ${MODE_BACKGROUND_TIMEOUT_MS / 3_600_000} hours: for servers and other long-running programs. Read the file to see its output; the last line says how it ended. Do NOT append & for this.
Output over ${humanizeBytes(SNIP_OVER_BYTES)} is cut in the middle.

Keep commands concise, well under 60k tokens: write long scripts to a file first and run that.${sandbox}${pwd}`;
}
