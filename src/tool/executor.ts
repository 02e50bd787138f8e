// The way every door calls a tool: look up, tell the hooks, run, time, record. Validation and what is thrown
// belong to BaseTool.execute; here only what a tool cannot do for itself is decided.

import { monotonicMs, wallMs } from "../support/clock.ts";
import { ABORT_GRACE_MS, EXECUTION_HISTORY_MAX_COUNT } from "../support/limits.ts";
import type { ExecutionContext } from "./context.ts";
import { ExecutionHistory, recordOf, type ToolExecution } from "./execution.ts";
import { runHooks, type ToolCall, type ToolHook } from "./hooks.ts";
import { ToolRegistry } from "./registry.ts";
import { ToolResult } from "./result.ts";
import type { ProviderSchemas, SchemaFormat } from "./schemas/formats.ts";
import { abortMessage } from "./thrown.ts";
import type { BaseTool } from "./tool.ts";

export interface ToolExecutorOptions {
  /** @default ToolRegistry.shared() */
  readonly registry?: ToolRegistry;
  readonly hooks?: readonly ToolHook[];
  /** How many calls the history remembers. */
  readonly historyMaxCount?: number;
  /** After an abort, how long a tool may take to come back with its own result. */
  readonly abortGraceMs?: number;
}

export class ToolExecutor {
  readonly registry: ToolRegistry;
  readonly #hooks: readonly ToolHook[];
  readonly #history: ExecutionHistory;
  readonly #abortGraceMs: number;

  constructor(options: ToolExecutorOptions = {}) {
    this.registry = options.registry ?? ToolRegistry.shared();
    this.#hooks = [...(options.hooks ?? [])];
    this.#history = new ExecutionHistory(options.historyMaxCount ?? EXECUTION_HISTORY_MAX_COUNT);
    this.#abortGraceMs = options.abortGraceMs ?? ABORT_GRACE_MS;
  }

  /** Never rejects. A hook that failed is told in the result's notes. */
  async execute(name: string, context: ExecutionContext, args: unknown): Promise<ToolResult> {
    const call: ToolCall = { tool: name, arguments: args, context };
    const before = await runHooks(this.#hooks, "before", (hook) => hook.before?.(call));

    const startedAt = wallMs();
    const startedMs = monotonicMs();
    const result = await this.#run(call);
    const execution = recordOf(name, args, { startedAt, durationMs: monotonicMs() - startedMs }, result);
    this.#history.add(execution);

    const after = await runHooks(this.#hooks, "after", (hook) => hook.after?.(call, result, execution));
    const failures = [...before, ...after];
    return failures.length === 0 ? result : result.withNotes(...failures);
  }

  /** The last calls, oldest first. */
  history(): readonly ToolExecution[] {
    return this.#history.list();
  }

  getAllSchemas<F extends SchemaFormat>(format: F): ProviderSchemas[F][] {
    return this.registry.getAllSchemas(format);
  }

  async #run({ tool: name, context, arguments: args }: ToolCall): Promise<ToolResult> {
    const tool = this.registry.get(name);
    if (tool === undefined) {
      return ToolResult.fail(this.registry.describeMissing(name), { code: "unknown_tool" });
    }
    const running = tool.execute(context, args);
    return context?.signal ? this.#orAborted(running, tool, context.signal) : running;
  }

  // A tool that hears the abort ends its processes and comes back with what they had printed, which is worth
  // waiting for. One that does not hear it must not hold its caller: after the grace we answer in its place.
  #orAborted(running: Promise<ToolResult>, tool: BaseTool, signal: AbortSignal): Promise<ToolResult> {
    const { promise, resolve } = deferred<ToolResult>();
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => {
      timer = setTimeout(() => {
        const notes = [`${tool.name} did not stop within ${this.#abortGraceMs}ms and may still be running`];
        resolve(ToolResult.fail(abortMessage(tool.name, signal), { code: "aborted", notes }));
      }, this.#abortGraceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return Promise.race([running, promise]).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
