// The KillShell tool: ends a shell and everything it started, and reports the processes it found.
import { z } from "zod";
import { KILL_GRACE_MS } from "../support/limits.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { ToolResult } from "../tool/result.ts";
import { BaseTool, type ToolAnnotations, type ToolCategory } from "../tool/tool.ts";
import {
  type ExecutionOptions,
  type ResolvedExecutionOptions,
  resolveExecutionOptions,
} from "./execution-options.ts";
import { describeProcess, namedReport } from "./leftovers.ts";
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

/** The arguments of a KillShell call. */
export type KillShellArguments = z.input<typeof INPUT>;

export class KillShellTool extends BaseTool<typeof INPUT, KillShellMetadata> {
  readonly name = "KillShell";
  override readonly title = "End a background shell";
  readonly category: ToolCategory = "execution";
  override readonly annotations: ToolAnnotations = { destructiveHint: true, idempotentHint: true };
  readonly description: string;
  readonly input = INPUT;
  readonly #options: ResolvedExecutionOptions;

  constructor(options: ExecutionOptions = {}) {
    super();
    this.#options = resolveExecutionOptions(options);
    this.description = describeKill(options.manager?.killGraceMs ?? KILL_GRACE_MS);
  }

  protected async run(
    context: ExecutionContext,
    { shell_id }: z.output<typeof INPUT>,
  ): Promise<ToolResult<KillShellMetadata>> {
    const shell = findShell(this.#options.manager(), shell_id, context);
    const stopped = !shell.isRunning;
    const status = shell.status;
    const { signalled, survivors, unverified } = namedReport(await shell.kill({ by: "KillShell" }), shell);
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
      const ended = signalled.map((left) => `Ended a process that it left running: ${describeProcess(left)}`);
      const text = `Shell ${shell_id} already stopped (status: ${status})`;
      return ToolResult.ok(text, metadata, { notes: [...ended, ...notes] });
    }
    if (shell.isRunning) {
      const error = `Shell ${shell_id} is still running: it was killed (SIGKILL), but its end is not recorded yet. The notes name the processes that are left and why. Check it with BashOutput, or call KillShell again.`;
      return ToolResult.fail(error, { code: "timed_out", metadata, notes });
    }
    return ToolResult.ok(`Shell ${shell_id} terminated`, metadata, { notes });
  }
}

/** The note for a report that is incomplete. */
const UNVERIFIED =
  "The search for remaining processes took longer than this call can wait; it continues in the background. Call KillShell again to see its result.";

function describeKill(graceMs: number): string {
  return `Ends a background shell and every process it started, including those that detached: sends SIGTERM, and SIGKILL to processes that still run ${graceMs / 1000} s later.

Use it for servers and watchers you no longer need, and for commands that hang. The result lists the processes that got a signal, and those that survived with the reason. A shell that has already ended is not an error; processes that it left running are ended. Its output stays readable with BashOutput.
Do NOT use kill, pkill or killall in Bash for this: they miss processes, or hit others.`;
}
