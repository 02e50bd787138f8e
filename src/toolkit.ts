// Connects the parts of a toolkit: a manager, the tools of a dialect, an executor, and a context for each call. No
// other file connects them.
import { ApprovalDesk } from "./approvals/approval-desk.ts";
import { approvalInbox } from "./approvals/approval-inbox.ts";
import { AuditLog } from "./audit/audit-log.ts";
import { verdictOn } from "./execution/admission.ts";
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
import { ShellManager } from "./shell-manager.ts";
import { defined } from "./support/defined.ts";
import { NacreError } from "./support/errors.ts";
import { EVENT_NAMES, Events } from "./support/events.ts";
import { ABORT_MARGIN_MS } from "./support/limits.ts";
import { checkOptions } from "./support/option-checks.ts";
import { createContext } from "./tool/context.ts";
import { callEvents, ToolExecutor } from "./tool/executor.ts";
import { ToolRegistry } from "./tool/registry.ts";
import { failureOf, type ToolResult } from "./tool/result.ts";
import { checkName, checkText, checkToolkitOptions, problemWith } from "./toolkit/check-options.ts";
import { kitPreviews } from "./toolkit/kit-previews.ts";
import { runInSession, shTag } from "./toolkit/kit-run.ts";
import { engineOptionsOf } from "./toolkit/option-schemas.ts";
import { createRemoteToolkit } from "./toolkit/remote/remote-toolkit.ts";
import type { RemoteToolkit, Toolkit } from "./toolkit/toolkit-interface.ts";
import type { CallOptions, RunKitOptions, ToolkitOptions } from "./toolkit/toolkit-options.ts";

export type { ShTag } from "./toolkit/kit-run.ts";
export type { ArgumentsOf, MetadataOf, OptionalToolName, ToolName } from "./toolkit/tool-types.ts";
export type { RemoteToolkit, Toolkit } from "./toolkit/toolkit-interface.ts";
export type { CallOptions, RunKitOptions, ToolGroup, ToolkitOptions } from "./toolkit/toolkit-options.ts";

/** Creates a toolkit that runs commands on another machine. */
export async function createToolkit<D extends Dialect = "shells">(
  options: ToolkitOptions & { readonly remote: NonNullable<ToolkitOptions["remote"]>; readonly dialect?: D },
): Promise<RemoteToolkit<D>>;
/**
 * Also starts the keeper early: forking is fast while this process is small, and the first command then need not
 * wait.
 */
export async function createToolkit<D extends Dialect = "shells">(
  options?: ToolkitOptions & { readonly dialect?: D },
): Promise<Toolkit<D>>;
export async function createToolkit<D extends Dialect = "shells">(
  options: ToolkitOptions & { readonly dialect?: D } = {},
): Promise<Toolkit<D> | RemoteToolkit<D>> {
  if (options?.remote !== undefined) return await createRemoteToolkit(options, assembleToolkit);
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
    remote: __,
    ...given
  } = options;
  const events = new Events();
  const audit = auditFile === undefined ? undefined : new AuditLog(auditFile);
  if (audit) for (const name of EVENT_NAMES) events.on(name, (event) => audit.write(event));
  const rest = { ...given, events };
  const loadJudging = judgingLoader(rest);
  // Commands cannot write these files in any sandbox.
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
  const executor = new ToolExecutor({
    registry,
    hooks: [...hooks, callEvents(events)],
    abortGraceMs: manager.killGraceMs + ABORT_MARGIN_MS,
  });
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
