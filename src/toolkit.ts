// Connects the parts: a manager, the tools of a dialect, an executor, and a context for each call. No other file does.
import { AuditLog } from "./audit/audit-log.ts";
import { verdictOn } from "./execution/admission.ts";
import type { BashOutputMetadata } from "./execution/bash-output.ts";
import type { BashMetadata } from "./execution/bash-result.ts";
import { judgingLoader, resolveExecutionOptions } from "./execution/execution-options.ts";
import { JudgedSession } from "./execution/judged-session.ts";
import type { Judging } from "./execution/judging.ts";
import type { KillShellMetadata } from "./execution/kill-shell.ts";
import type { ModesMetadata } from "./execution/modes.ts";
import { registerExecutionTools, registerModesTool } from "./execution/register.ts";
import { sessionTarget } from "./execution/start-command.ts";
import type { Verdict } from "./policy/verdict.ts";
import type { ShellProcess } from "./shell/shell-process.ts";
import { ShellManager } from "./shell-manager.ts";
import { defined } from "./support/defined.ts";
import { NacreError } from "./support/errors.ts";
import { EVENT_NAMES, type EventListener, type EventName, Events } from "./support/events.ts";
import { createContext } from "./tool/context.ts";
import { callEvents, ToolExecutor } from "./tool/executor.ts";
import { ToolRegistry } from "./tool/registry.ts";
import type { ToolResult } from "./tool/result.ts";
import type { ProviderSchemas, SchemaFormat } from "./tool/schemas/formats.ts";
import { checkToolkitOptions } from "./toolkit/check-options.ts";
import type { CallOptions, ToolkitOptions } from "./toolkit/toolkit-options.ts";

export type { CallOptions, ToolkitOptions } from "./toolkit/toolkit-options.ts";

/** The metadata of each tool's results. */
interface ToolMetadata {
  readonly Bash: BashMetadata;
  readonly BashOutput: BashOutputMetadata;
  readonly KillShell: KillShellMetadata;
  readonly bash: ModesMetadata;
}

export type MetadataOf<T extends string> = T extends keyof ToolMetadata
  ? ToolMetadata[T]
  : Record<string, unknown>;

export interface Toolkit {
  readonly manager: ShellManager;
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  /** The tools in the format of a provider. */
  schemas<F extends SchemaFormat>(format: F): ProviderSchemas[F][];
  call<T extends string>(tool: T, args: unknown, options?: CallOptions): Promise<ToolResult<MetadataOf<T>>>;
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
  };
  /** Calls the listener for every event of this kind. Returns a function that removes it. */
  on<Name extends EventName>(event: Name, listener: EventListener<Name>): () => void;
  /** The verdict of the policy on a command of a call with these options. Runs nothing. */
  check(command: string, options?: Pick<CallOptions, "workingDir" | "sessionId" | "scope" | "env">): Verdict;
  /** Starts the keeper and loads the policy, once. createToolkit waits for it. */
  ready(): Promise<void>;
  /** Ends everything that the tools started. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the keeper as well: forking is fast while this process is small, and the first command need not wait. */
export async function createToolkit(options: ToolkitOptions): Promise<Toolkit> {
  const kit = assembleToolkit(options);
  try {
    await kit.ready();
  } catch (error) {
    await kit.dispose();
    throw error;
  }
  return kit;
}

/** The same without starting anything, for a host that must answer quickly. The first call starts what it needs. */
export function assembleToolkit(options: ToolkitOptions): Toolkit {
  checkToolkitOptions(options);
  const {
    workingDir,
    dialect = "shells",
    approve,
    scope,
    sessionId,
    hooks = [],
    auditFile,
    ...given
  } = options;
  const events = new Events();
  const audit = auditFile === undefined ? undefined : new AuditLog(auditFile);
  if (audit) for (const name of EVENT_NAMES) events.on(name, (event) => audit.write(event));
  const rest = { ...given, events };
  const loadJudging = judgingLoader(rest);
  // A sandbox lets commands write here, wherever they go.
  const trustedFiles = [options.policyFile, auditFile].filter((file) => file !== undefined);
  const manager = new ShellManager({ workspace: workingDir, ...rest, trustedFiles });
  const execution = { ...rest, manager, loadJudging };
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { ...execution, workingDir });
  else registerExecutionTools(registry, execution);
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
  };
  const defaults = { workingDir, ...defined({ approve, scope, sessionId }) };
  const dispose = async () => {
    await manager.dispose();
    audit?.close();
  };
  const session: Toolkit["session"] = (id = sessionId ?? "default", call = {}) =>
    new JudgedSession(createContext({ ...defaults, ...call, sessionId: id }), resolved);
  return {
    manager,
    registry,
    executor,
    schemas: (format) => registry.getAllSchemas(format),
    call: <T extends string>(tool: T, args: unknown, call: CallOptions = {}) => {
      const context = createContext({ ...defaults, ...call });
      return executor.execute(tool, context, args) as Promise<ToolResult<MetadataOf<T>>>;
    },
    session,
    sessions: () => manager.listSessions({ scope: scope ?? "default" }).map(({ id }) => session(id)),
    shells: {
      list: () => manager.listShells({ scope: scope ?? "default" }),
      get: (id) => manager.getShell(id, { scope: scope ?? "default" }),
    },
    on: (name, listener) => events.on(name, listener),
    check: (command, call = {}) => {
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
