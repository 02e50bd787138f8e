// The one place that wires: a manager, the tools of a dialect, an executor, and a context for each call.
import { JudgedSession } from "./execution/judged-session.ts";
import type { Judging } from "./execution/judging.ts";
import { type ExecutionOptions, judgingLoader, resolveExecutionOptions } from "./execution/options.ts";
import { registerExecutionTools, registerModesTool } from "./execution/register.ts";
import type { Verdict } from "./policy/verdict.ts";
import type { ShellManagerOptions } from "./shell/manager-options.ts";
import type { Session } from "./shell/session.ts";
import { ShellManager } from "./shell/shell-manager.ts";
import { NacreError } from "./support/errors.ts";
import { type ContextOptions, createContext } from "./tool/context.ts";
import { ToolExecutor } from "./tool/executor.ts";
import type { ToolHook } from "./tool/hooks.ts";
import { ToolRegistry } from "./tool/registry.ts";
import type { ToolResult } from "./tool/result.ts";
import type { ProviderSchemas, SchemaFormat } from "./tool/schemas/formats.ts";

export interface ToolkitOptions
  extends Omit<ExecutionOptions, "manager" | "loadJudging">,
    ShellManagerOptions {
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
}

/** What a single call may change of its surroundings. */
export type CallOptions = Partial<Omit<ContextOptions, "metadata">>;

export interface Toolkit {
  readonly manager: ShellManager;
  readonly registry: ToolRegistry;
  readonly executor: ToolExecutor;
  /** The tools as a provider wants them described. */
  schemas<F extends SchemaFormat>(format: F): ProviderSchemas[F][];
  call(tool: string, args: unknown, options?: CallOptions): Promise<ToolResult>;
  /**
   * A bash whose state persists, for whoever drives it by hand: the one that calls of this id run in. It is
   * made if there is none.
   */
  session(id?: string): JudgedSession;
  /** The sessions of the toolkit's scope. */
  sessions(): readonly Session[];
  /** What the policy says about a command; nothing is run. */
  check(command: string): Verdict;
  /** Starts the keeper and loads the policy, once; createToolkit has waited for it. */
  ready(): Promise<void>;
  /** Ends everything the tools have started. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the keeper, too: while this process is small, and so that the first command need not wait for it. */
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

/** The same with nothing started yet, for a host whose first words must come soon. A call starts what it needs. */
export function assembleToolkit(options: ToolkitOptions): Toolkit {
  const { workingDir, dialect = "shells", approve, scope, sessionId, hooks, ...rest } = options;
  const loadJudging = judgingLoader(rest);
  const manager = new ShellManager(rest);
  const execution = { ...rest, manager, loadJudging };
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { ...execution, workingDir });
  else registerExecutionTools(registry, execution);
  const executor = new ToolExecutor({ registry, ...(hooks ? { hooks } : {}) });
  const resolved = resolveExecutionOptions(execution);
  let judging: Judging | undefined;
  let readying: Promise<void> | undefined;
  const getReady = async () => {
    const loaded = await loadJudging();
    // A file of rules that cannot be used is told now, not at the first command.
    loaded.facts(workingDir);
    judging = loaded;
    await manager.warmUp();
  };
  const surroundings = {
    workingDir,
    ...(approve ? { approve } : {}),
    ...(scope === undefined ? {} : { scope }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
  const dispose = () => manager.dispose();
  return {
    manager,
    registry,
    executor,
    schemas: (format) => registry.getAllSchemas(format),
    call: (tool, args, call = {}) =>
      executor.execute(tool, createContext({ ...surroundings, ...call }), args),
    session: (id = sessionId ?? "default") =>
      new JudgedSession(createContext({ ...surroundings, sessionId: id }), resolved),
    sessions: () => manager.listSessions({ scope: scope ?? "default" }),
    check: (command) => {
      if (!judging) throw new NacreError("internal", "The toolkit is not ready: wait for ready() first.");
      return judging.judge(command, judging.facts(workingDir));
    },
    ready: () => {
      readying ??= getReady();
      return readying;
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
