// Connects the parts: a manager, the tools of a dialect, an executor, and a context for each call. No other file does
// that.
import { ApprovalDesk } from "./approvals/approval-desk.ts";
import { type ApprovalInbox, approvalInbox } from "./approvals/approval-inbox.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { verdictOn } from "./execution/admission.ts";
import type { BashArguments, BashStartMetadata } from "./execution/bash.ts";
import type { Dialect } from "./execution/endings.ts";
import { judgingLoader, resolveExecutionOptions } from "./execution/execution-options.ts";
import { withFinished } from "./execution/finished-report.ts";
import { JudgedSession } from "./execution/judged-session.ts";
import type { Judging } from "./execution/judging.ts";
import type { PendingRun } from "./execution/live-output.ts";
import { type PreviewResult, previewForProgram } from "./execution/preview-program.ts";
import { registerExecutionTools, registerModesTool, registerPreviewTool } from "./execution/register.ts";
import { runAlone } from "./execution/run-alone.ts";
import type { RunResult } from "./execution/run-result.ts";
import { sessionTarget } from "./execution/start-command.ts";
import { FileService } from "./files/file-service.ts";
import { registerFileTools } from "./files/register-files.ts";
import type { Verdict } from "./policy/verdict.ts";
import type { ShellProcess } from "./shell/shell-process.ts";
import { ShellManager } from "./shell-manager.ts";
import { defined } from "./support/defined.ts";
import { NacreError } from "./support/errors.ts";
import { EVENT_NAMES, type EventListener, type EventName, Events } from "./support/events.ts";
import { checkOptions } from "./support/option-checks.ts";
import { createContext } from "./tool/context.ts";
import { callEvents, ToolExecutor } from "./tool/executor.ts";
import { ToolRegistry } from "./tool/registry.ts";
import { failureOf, type ToolResult } from "./tool/result.ts";
import type { ProviderSchemas, SchemaFormat } from "./tool/schemas/formats.ts";
import { checkName, checkText, checkToolkitOptions, problemWith } from "./toolkit/check-options.ts";
import { type KitPreviews, kitPreviews } from "./toolkit/kit-previews.ts";
import { runInSession, type ShTag, shTag } from "./toolkit/kit-run.ts";
import { engineOptionsOf } from "./toolkit/option-schemas.ts";
import type { ArgumentsOf, MetadataOf, OptionalToolName, ToolName } from "./toolkit/tool-types.ts";
import type { CallOptions, RunKitOptions, ToolkitOptions } from "./toolkit/toolkit-options.ts";

export type { KitPreviews } from "./toolkit/kit-previews.ts";
export type { ShTag } from "./toolkit/kit-run.ts";
export type { ArgumentsOf, MetadataOf, OptionalToolName, ToolName } from "./toolkit/tool-types.ts";
export type { CallOptions, RunKitOptions, ToolGroup, ToolkitOptions } from "./toolkit/toolkit-options.ts";

export interface Toolkit<D extends Dialect = Dialect> {
  /** The engine under the tools. The policy does not see what you start through it. */
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
   * Runs a command without writing to the workspace, and lists what it would change. `previews` commits or discards the
   * result. Throws a NacreError if the policy denies the command, or if previews do not work here.
   */
  preview(command: string, options?: RunKitOptions): PendingRun<PreviewResult>;
  /** The previews of the toolkit's scope. */
  readonly previews: KitPreviews;
  /** The same with a template whose values are quoted. */
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
  /** For a tool whose name is not known when the program is compiled. */
  call<N extends string>(
    tool: string extends N ? N : never,
    args: unknown,
    options?: CallOptions,
  ): Promise<ToolResult>;
  /**
   * The session with this id, for a program that runs commands itself. Calls with this id run in it. Creates it if it
   * does not exist.
   */
  session(id?: string, options?: CallOptions): JudgedSession;
  /** The sessions of the toolkit's scope. */
  sessions(): readonly JudgedSession[];
  /** The shells of the toolkit's scope. */
  readonly shells: {
    list(): ShellProcess[];
    get(id: string): ShellProcess | undefined;
    /** Ends every running shell with everything it started. Returns how many there were. */
    killAll(options?: { readonly by?: string }): Promise<number>;
  };
  /** The approval requests of every agent on this state root. */
  readonly approvals: ApprovalInbox;
  /** Calls the listener for every event of this kind. Returns a function that removes it. */
  on<Name extends EventName>(event: Name, listener: EventListener<Name>): () => void;
  /** The verdict of the policy on a command of a call with these options. Runs nothing. */
  check(command: string, options?: Pick<CallOptions, "workingDir" | "sessionId" | "scope" | "env">): Verdict;
  /** Starts the keeper and loads the policy, once. createToolkit waits for it. @internal */
  ready(): Promise<void>;
  /** Ends everything that the tools started. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Also starts the keeper: forking is fast while this process is small, and the first command then need not wait. */
export async function createToolkit<D extends Dialect = "shells">(
  options: ToolkitOptions & { readonly dialect?: D } = {},
): Promise<Toolkit<D>> {
  const kit = assembleToolkit(options);
  try {
    await kit.ready();
  } catch (error) {
    await kit.dispose();
    throw error;
  }
  return kit;
}

/** Like createToolkit, but starts nothing, for a host that must answer quickly. The first call starts what it needs. */
export function assembleToolkit<D extends Dialect = "shells">(
  options: ToolkitOptions & { readonly dialect?: D } = {},
): Toolkit<D> {
  const { workingDir = process.cwd() } = options ?? {};
  checkToolkitOptions(options, workingDir);
  const {
    workingDir: _,
    dialect = "shells",
    approve,
    scope,
    sessionId,
    hooks = [],
    auditFile,
    with: groups = [],
    ...given
  } = options;
  const events = new Events();
  const audit = auditFile === undefined ? undefined : new AuditLog(auditFile);
  if (audit) for (const name of EVENT_NAMES) events.on(name, (event) => audit.write(event));
  const rest = { ...given, events };
  const loadJudging = judgingLoader(rest);
  // No sandbox lets commands write these files.
  const trustedFiles = [options.policyFile, auditFile].filter((file) => file !== undefined);
  const manager = new ShellManager({
    // The sandbox makes this directory writable, even after a command changes to another one.
    workspace: workingDir,
    ...engineOptionsOf(given),
    events,
    trustedFiles,
  });
  const execution = {
    ...rest,
    manager,
    loadJudging,
    terminals: groups.includes("terminals"),
    withPreview: groups.includes("preview"),
  };
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { ...execution, workingDir });
  else registerExecutionTools(registry, execution);
  if (groups.includes("files")) registerFileTools(registry, execution);
  if (groups.includes("preview")) registerPreviewTool(registry, execution);
  const executor = new ToolExecutor({ registry, hooks: [...hooks, callEvents(events)] });
  const resolved = resolveExecutionOptions(execution);
  let judging: Judging | undefined;
  let readying: Promise<void> | undefined;
  const getReady = async () => {
    const loaded = await loadJudging();
    // Fail now if a policy file is invalid, not at the first command.
    loaded.facts(workingDir);
    judging = loaded;
    await manager.warmUp();
    if (groups.includes("files")) FileService.of(manager).tidy();
  };
  const defaults = { workingDir, ...defined({ approve, scope, sessionId }) };
  const desk = ApprovalDesk.of(manager.root);
  const dispose = async () => {
    desk.close();
    await manager.dispose();
    audit?.close();
  };
  const own = { scope: scope ?? "default" };
  const session = (id: string = sessionId ?? "default", call: CallOptions = {}) => {
    checkText("The id of a session", id);
    checkOptions("kit.session", call);
    return new JudgedSession(createContext({ ...defaults, ...call, sessionId: id }), resolved);
  };
  const run = (command: string, call: RunKitOptions = {}): PendingRun<RunResult> => {
    const { session: id, ...rest } = call ?? {};
    if (id === undefined) return runAlone(command, call, createContext(defaults), resolved);
    return runInSession(() => session(id), command, rest);
  };
  const preview = (command: string, call: RunKitOptions = {}): PendingRun<PreviewResult> =>
    previewForProgram(command, call, createContext(defaults), resolved);
  const call = async (tool: string, args: unknown, options: CallOptions = {}): Promise<ToolResult> => {
    const problem = problemWith("kit.call", options);
    if (problem) return failureOf(problem, tool, undefined);
    const context = createContext({ ...defaults, ...options });
    const executed = await executor.execute(tool, context, args);
    const note = manager.user?.takeNote();
    const result = note === undefined ? executed : executed.withNotes(note);
    return dialect === "shells" ? await withFinished(result, manager, context) : result;
  };
  return {
    manager,
    registry,
    executor,
    schemas: (format) => registry.getAllSchemas(format),
    run,
    preview,
    previews: kitPreviews(() => ({ context: createContext(defaults), options: resolved, scope: own.scope })),
    sh: shTag(run),
    call: call as Toolkit<D>["call"],
    session,
    sessions: () => manager.listSessions(own).map(({ id }) => session(id)),
    shells: {
      list: () => manager.listShells(own),
      get: (id) => manager.getShell(id, own),
      killAll: async (options = {}) => {
        checkOptions("shells.killAll", options);
        return await manager.killAll({ ...options, ...own });
      },
    },
    approvals: approvalInbox(desk, "kit.approvals"),
    on: (name, listener) => {
      checkName("event", name, EVENT_NAMES);
      return events.on(name, listener);
    },
    check: (command, call = {}) => {
      checkOptions("kit.check", call);
      if (!judging) throw new NacreError("internal", "The toolkit is not ready: wait for ready() first.");
      const context = createContext({ ...defaults, ...call });
      const target = dialect === "modes" ? null : sessionTarget(context, resolved);
      return verdictOn(command, target, context, judging);
    },
    ready: () => {
      readying ??= getReady();
      return readying;
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
