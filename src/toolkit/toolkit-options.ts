// What a toolkit can be told, and what a single call may change of it.
import type { ExecutionOptions } from "../execution/execution-options.ts";
import type { ShellManagerOptions } from "../shell/manager-options.ts";
import type { ContextOptions } from "../tool/context.ts";
import type { ToolHook } from "../tool/executor.ts";

export interface ToolkitOptions
  extends Omit<ExecutionOptions, "manager" | "loadJudging" | "events">,
    Omit<ShellManagerOptions, "events" | "trustedFiles"> {
  /** Where commands run, unless a call names another directory. Absolute. */
  readonly workingDir: string;
  /** "shells": Bash, BashOutput, KillShell; "modes": one tool, bash. @default "shells" */
  readonly dialect?: "shells" | "modes";
  /** Asks a person about a command the policy wants asked about. */
  readonly approve?: ContextOptions["approve"];
  /** Whose shells these are. @default "default" */
  readonly scope?: string;
  /** Which session calls belong to that name none. @default "default" */
  readonly sessionId?: string;
  /** Told before and after each call. */
  readonly hooks?: readonly ToolHook[];
  /** A file that every event is appended to, each bound to the one before it by its hash. @default none */
  readonly auditFile?: string;
}

/** What a single call may change of its surroundings. */
export type CallOptions = Partial<Omit<ContextOptions, "metadata">>;
