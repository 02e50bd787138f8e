// The KillShell tool: ends a shell with everything it started, and says what it found.
import { z } from "zod";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import { describeProcess } from "./leftovers.ts";
import { findShell } from "./scope.ts";

export interface KillShellMetadata {
  readonly shell_id: string;
  readonly command: string;
  readonly duration_ms: number;
  readonly signalled: readonly { readonly pid: number; readonly command: string }[];
  readonly survivors: readonly { readonly pid: number; readonly command: string; readonly reason: string }[];
  readonly status: string;
  readonly already_stopped?: boolean;
}

const INPUT = z.object({
  shell_id: z.string().describe("The id of the shell to end, as Bash returned it (bash_id)"),
});

export class KillShellTool extends BaseTool<typeof INPUT, KillShellMetadata> {
  readonly name = "KillShell";
  override readonly title = "End a background shell";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, idempotentHint: true };
  readonly description =
    `Ends a background shell and every process it started, also those that detached themselves: first asks them (SIGTERM), then kills what is left after two seconds.

Use it for servers and watchers you no longer need, and for commands that hang. The answer lists what was signalled and what survived, with the reason. A shell that has already ended is no error; what it left running is ended then. Its output stays readable with BashOutput.
Do NOT use kill, pkill or killall in Bash for this: they miss processes, or hit others.`;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
  }

  protected async run(
    context: ExecutionContext,
    { shell_id }: z.output<typeof INPUT>,
  ): Promise<ToolResult<KillShellMetadata>> {
    const shell = findShell(this.#options.manager(), shell_id, context);
    const stopped = !shell.isRunning;
    const status = shell.status;
    const { signalled, survivors, unverified } = await shell.kill({ by: "KillShell" });
    const metadata: KillShellMetadata = {
      shell_id,
      command: shell.command,
      duration_ms: shell.durationMs,
      signalled,
      survivors,
      status: shell.status,
      ...(stopped ? { already_stopped: true } : {}),
    };
    const notes = survivors.map((left) => `Survived: ${describeProcess(left)}: ${left.reason}`);
    if (unverified) notes.push(UNVERIFIED);
    if (stopped) {
      const ended = signalled.map((left) => `Ended what it had left running: ${describeProcess(left)}`);
      const words = `Shell ${shell_id} already stopped (status: ${status})`;
      return ToolResult.ok(words, metadata, { notes: [...ended, ...notes] });
    }
    if (shell.isRunning) {
      const words = `Shell ${shell_id} is still running: it was killed (SIGKILL) and its end has not been recorded. See below what is left and why; read it again with BashOutput, or call KillShell again.`;
      return ToolResult.fail(words, { code: "timed_out", metadata, notes });
    }
    return ToolResult.ok(`Shell ${shell_id} terminated`, metadata, { notes });
  }
}

/** The words for a report that is not complete. */
const UNVERIFIED =
  "The search for what is left was not complete within the time of a call; it goes on in the background. Call KillShell again to see what it found.";
