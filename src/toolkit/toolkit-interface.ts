// The toolkit that a program gets: on this machine, or on a remote one.
import type { ApprovalInbox } from "../approvals/approval-inbox.ts";
import type { BashArguments, BashStartMetadata } from "../execution/bash.ts";
import type { Dialect } from "../execution/endings.ts";
import type { JudgedSession } from "../execution/judged-session.ts";
import type { PendingRun } from "../execution/live-output.ts";
import type { PreviewResult } from "../execution/preview-program.ts";
import type { RunResult } from "../execution/run-result.ts";
import type { Verdict } from "../policy/verdict.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import type { EventListener, EventName } from "../support/events.ts";
import type { ToolExecutor } from "../tool/executor.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import type { ToolResult } from "../tool/result.ts";
import type { ProviderSchemas, SchemaFormat } from "../tool/schemas/formats.ts";
import type { KitPreviews } from "./kit-previews.ts";
import type { ShTag } from "./kit-run.ts";
import type { RemoteSession } from "./remote/remote-session.ts";
import type { RemoteShell } from "./remote/remote-shell.ts";
import type { ArgumentsOf, MetadataOf, OptionalToolName, ToolName } from "./tool-types.ts";
import type { CallOptions, RunKitOptions } from "./toolkit-options.ts";

export interface Toolkit<D extends Dialect = Dialect> {
  /** The engine under the tools. The policy does not judge commands that you start through the manager. */
  readonly manager: ShellManager;
  readonly registry: ToolRegistry;
  /** @internal */
  readonly executor: ToolExecutor;
  /** The tools in the format of a provider. */
  schemas<F extends SchemaFormat>(format: F): ProviderSchemas[F][];
  /**
   * Runs a command, in a separate bash or in a session. Resolves for every ending: `ok` is false for an exit code other
   * than 0 and for a timeout (by default after 120 s). Iterate over the promise to read the output while the command
   * runs. Throws a NacreError if the command did not run, for example because the policy refused it.
   */
  run(command: string, options?: RunKitOptions): PendingRun<RunResult>;
  /**
   * Runs a command without writing to the workspace, and lists what it would change. Use `previews` to commit or
   * discard the changes. Throws a NacreError if the policy denies the command, or if previews do not work on this
   * machine.
   */
  preview(command: string, options?: RunKitOptions): PendingRun<PreviewResult>;
  /** The previews of the toolkit's scope. */
  readonly previews: KitPreviews;
  /** Like `run`, but takes a template and quotes its values. */
  readonly sh: ShTag;
  call(
    tool: Extract<ToolName<D>, "Bash">,
    args: BashArguments & { readonly run_in_background: true },
    options?: CallOptions,
  ): Promise<ToolResult<BashStartMetadata>>;
  /** Calls a tool as a model would. Never rejects: every error is a failed result. */
  call<N extends ToolName<D> | OptionalToolName>(
    tool: N,
    args: ArgumentsOf<N>,
    options?: CallOptions,
  ): Promise<ToolResult<MetadataOf<N>>>;
  /** For a tool name that is not known at compile time. */
  call<N extends string>(
    tool: string extends N ? N : never,
    args: unknown,
    options?: CallOptions,
  ): Promise<ToolResult>;
  /**
   * The session with this id, for a program that runs commands itself. Tool calls with the same `sessionId` run in this
   * session, too. Creates the session if it does not exist.
   */
  session(id?: string, options?: CallOptions): JudgedSession;
  /** The sessions of the toolkit's scope. */
  sessions(): readonly JudgedSession[];
  /** The shells of the toolkit's scope. */
  readonly shells: {
    list(): ShellProcess[];
    get(id: string): ShellProcess | undefined;
    /** Ends every running shell with everything it started. Returns the number of shells. */
    killAll(options?: { readonly by?: string }): Promise<number>;
  };
  /** The approval requests of every agent that uses this state root. */
  readonly approvals: ApprovalInbox;
  /** Calls the listener for every event of this kind. Returns a function that removes it. */
  on<Name extends EventName>(event: Name, listener: EventListener<Name>): () => void;
  /** The policy's verdict on a command in a call with these options. Runs nothing. */
  check(command: string, options?: Pick<CallOptions, "workingDir" | "sessionId" | "scope" | "env">): Verdict;
  /** Starts the keeper and loads the policy, but only once. createToolkit waits for this. @internal */
  ready(): Promise<void>;
  /** Ends everything that the tools started. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A toolkit on a remote machine. It has no manager, because shells and files are at the remote end. `check` returns a
 * promise, because the answer needs a request.
 */
export interface RemoteToolkit<D extends Dialect = Dialect>
  extends Omit<
    Toolkit<D>,
    "manager" | "approvals" | "check" | "preview" | "previews" | "session" | "sessions" | "shells"
  > {
  session(id?: string, options?: CallOptions): RemoteSession;
  /** The sessions that this toolkit has opened. */
  sessions(): readonly RemoteSession[];
  readonly shells: {
    list(): RemoteShell[];
    get(id: string): RemoteShell | undefined;
    killAll(options?: { readonly by?: string }): Promise<number>;
  };
  check(
    command: string,
    options?: Pick<CallOptions, "workingDir" | "sessionId" | "scope" | "env">,
  ): Promise<Verdict>;
  /** Where commands run at the remote end, unless a call names another directory. */
  readonly workingDir: string;
}
