// The options of a toolkit, and of a single call.
import type { ExecutionOptions } from "../execution/execution-options.ts";
import type { RunCommandOptions } from "../execution/run-alone.ts";
import type { RemoteOptions } from "../remote/client/remote-options.ts";
import type { ShellManagerOptions } from "../shell/manager-options.ts";
import type { ContextOptions } from "../tool/context.ts";
import type { ToolHook } from "../tool/executor.ts";

/** The groups of tools that are off by default. */
export const TOOL_GROUPS = ["files", "terminals", "preview"] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

export interface ToolkitOptions
  extends Omit<ExecutionOptions, "manager" | "loadJudging" | "events" | "terminals" | "withPreview">,
    Omit<ShellManagerOptions, "events" | "trustedFiles"> {
  /**
   * Runs everything on another machine: a URL (`ssh://host`, `docker://container`, `kubernetes://pod`, …), or an object
   * with the URL and the times of the link. @default this machine
   */
  readonly remote?: string | RemoteOptions;
  /** The directory in which commands run, unless a call names another one. Absolute. @default the current directory */
  readonly workingDir?: string;
  /** "shells": Bash, BashOutput, KillShell; "modes": one tool, bash. @default "shells" */
  readonly dialect?: "shells" | "modes";
  /**
   * Groups of additional tools. "files": Read, Write, Edit, Glob, Grep. "terminals": BashInput, and the parameter
   * `terminal` of Bash. "preview": Preview, and the parameter `preview` of Bash. @default none
   */
  readonly with?: readonly ToolGroup[];
  /** Asks a person about a command that needs approval. */
  readonly approve?: ContextOptions["approve"];
  /** The scope of the toolkit's shells. @default "default" */
  readonly scope?: string;
  /** The session for calls that name no session. @default "default" */
  readonly sessionId?: string;
  /** Called before and after each call. */
  readonly hooks?: readonly ToolHook[];
  /** The file of the audit log. nacre appends every event to it, in a hash chain. @default none */
  readonly auditFile?: string;
}

export interface RunKitOptions extends RunCommandOptions {
  /**
   * The session to run in: its directory, variables and functions persist. @default none: the command runs in a
   * separate bash
   */
  readonly session?: string;
}

/** The part of the context that a single call can set. */
export type CallOptions = Partial<Omit<ContextOptions, "metadata">>;
