// The one place that wires: a manager, the tools of a dialect, an executor, and a context for each call.
import { type ExecutionOptions, resolveExecutionOptions } from "./execution/options.ts";
import { PolicyFiles } from "./execution/policy-files.ts";
import { registerExecutionTools, registerModesTool } from "./execution/register.ts";
import type { Verdict } from "./policy/verdict.ts";
import type { ShellManagerOptions } from "./shell/manager-options.ts";
import { ShellManager } from "./shell/shell-manager.ts";
import { type ContextOptions, createContext } from "./tool/context.ts";
import { ToolExecutor } from "./tool/executor.ts";
import type { ToolHook } from "./tool/hooks.ts";
import { ToolRegistry } from "./tool/registry.ts";
import type { ToolResult } from "./tool/result.ts";
import type { ProviderSchemas, SchemaFormat } from "./tool/schemas/formats.ts";

export interface ToolkitOptions
  extends Omit<ExecutionOptions, "manager" | "policyFiles">,
    ShellManagerOptions {
  /** Where commands run, unless a call names another directory. Absolute. */
  readonly workingDir: string;
  /** "shells": Bash, BashOutput, KillShell; "modes": one tool, bash. @default "shells" */
  readonly dialect?: "shells" | "modes";
  /** Asks a person about a command the policy wants asked about. */
  readonly approve?: ContextOptions["approve"];
  /** Whose shells these are. @default "default" */
  readonly scope?: string;
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
  /** What the policy says about a command; nothing is run. */
  check(command: string): Verdict;
  /** Ends everything the tools have started. */
  dispose(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the keeper, too: while this process is small, and so that the first command need not wait for it. */
export async function createToolkit(options: ToolkitOptions): Promise<Toolkit> {
  const { workingDir, dialect = "shells", approve, scope, hooks, ...rest } = options;
  const policyFiles = new PolicyFiles(rest);
  // A file of rules that cannot be used is told now, not at the first command.
  policyFiles.rulesFor(workingDir);
  const manager = new ShellManager(rest);
  const execution = { ...rest, manager, policyFiles };
  const registry = new ToolRegistry();
  if (dialect === "modes") registerModesTool(registry, { ...execution, workingDir });
  else registerExecutionTools(registry, execution);
  const executor = new ToolExecutor({ registry, ...(hooks ? { hooks } : {}) });
  const { judge, facts } = resolveExecutionOptions(execution);
  const surroundings = {
    workingDir,
    ...(approve ? { approve } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
  try {
    await manager.warmUp();
  } catch (error) {
    await manager.dispose();
    throw error;
  }
  const dispose = () => manager.dispose();
  return {
    manager,
    registry,
    executor,
    schemas: (format) => registry.getAllSchemas(format),
    call: (tool, args, call = {}) =>
      executor.execute(tool, createContext({ ...surroundings, ...call }), args),
    check: (command) => judge(command, facts(workingDir)),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
