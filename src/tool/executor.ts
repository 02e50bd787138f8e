// Calls a tool by name, for every entry point: finds the tool, calls the hooks, runs the tool, and records the call
// with its duration. BaseTool.execute validates the arguments and turns errors into results.

import { monotonicMs, wallMs } from "../support/clock.ts";
import { messageOf } from "../support/errors.ts";
import { callOrigin, type Events } from "../support/events.ts";
import { ABORT_GRACE_MS, EXECUTION_HISTORY_MAX_COUNT, HOOK_MAX_MS } from "../support/limits.ts";
import { isThenable } from "../support/realms.ts";
import { within } from "../support/timing.ts";
import type { ExecutionContext } from "./context.ts";
import { recordOf, type ToolExecution } from "./execution-record.ts";
import { ToolRegistry } from "./registry.ts";
import { abortMessage, ToolResult } from "./result.ts";
import type { ProviderSchemas, SchemaFormat } from "./schemas/formats.ts";
import type { BaseTool } from "./tool.ts";

export interface ToolCall {
  readonly tool: string;
  /** The caller's arguments, not validated yet. */
  readonly arguments: unknown;
  readonly context: ExecutionContext;
}

/**
 * Observes every call, for audit or metrics. A hook cannot change or forbid a call. If a hook throws or hangs, the call
 * continues.
 */
export interface ToolHook {
  before?(call: ToolCall): void | Promise<void>;
  after?(call: ToolCall, result: ToolResult, execution: ToolExecution): void | Promise<void>;
}

export interface ToolExecutorOptions {
  /** @default ToolRegistry.shared() */
  readonly registry?: ToolRegistry;
  readonly hooks?: readonly ToolHook[];
  /** Number of calls in the history. */
  readonly historyMaxCount?: number;
  /** Time for a tool to return its own result after an abort. */
  readonly abortGraceMs?: number;
}

export class ToolExecutor {
  readonly registry: ToolRegistry;
  readonly #hooks: readonly ToolHook[];
  readonly #history: ToolExecution[] = [];
  readonly #historyMaxCount: number;
  readonly #abortGraceMs: number;

  constructor(options: ToolExecutorOptions = {}) {
    this.registry = options.registry ?? ToolRegistry.shared();
    this.#hooks = [...(options.hooks ?? [])];
    this.#historyMaxCount = options.historyMaxCount ?? EXECUTION_HISTORY_MAX_COUNT;
    this.#abortGraceMs = options.abortGraceMs ?? ABORT_GRACE_MS;
  }

  /** Never rejects. The notes of the result report a hook that failed. */
  async execute(name: string, context: ExecutionContext, args: unknown): Promise<ToolResult> {
    const call: ToolCall = { tool: name, arguments: args, context };
    const before = await this.#runHooks("before", (hook) => hook.before?.(call));

    const startedAt = wallMs();
    const startedMs = monotonicMs();
    const result = await this.#run(call);
    const execution = recordOf(name, args, { startedAt, durationMs: monotonicMs() - startedMs }, result);
    this.#history.push(execution);
    if (this.#history.length > this.#historyMaxCount) this.#history.shift();

    const after = await this.#runHooks("after", (hook) => hook.after?.(call, result, execution));
    const failures = [...before, ...after];
    return failures.length === 0 ? result : result.withNotes(...failures);
  }

  /** The last calls, oldest first. */
  history(): readonly ToolExecution[] {
    return [...this.#history];
  }

  getAllSchemas<F extends SchemaFormat>(format: F): ProviderSchemas[F][] {
    return this.registry.getAllSchemas(format);
  }

  /** Calls the hooks in order. Returns one sentence for each hook that failed. */
  async #runHooks(
    part: "before" | "after",
    invoke: (hook: ToolHook) => void | Promise<void>,
  ): Promise<string[]> {
    const failures: string[] = [];
    for (const hook of this.#hooks) {
      try {
        const work = invoke(hook);
        const done =
          work === undefined ||
          !isThenable(work) ||
          (await within(
            HOOK_MAX_MS,
            Promise.resolve(work).then(() => true),
          ));
        if (!done) throw new Error(`not done after ${HOOK_MAX_MS}ms`);
      } catch (thrown) {
        failures.push(`A hook ${part} the call failed: ${messageOf(thrown)}`);
      }
    }
    return failures;
  }

  async #run({ tool: name, context, arguments: args }: ToolCall): Promise<ToolResult> {
    const tool = this.registry.get(name);
    if (tool === undefined) {
      return ToolResult.fail(this.registry.describeMissing(name), { code: "unknown_tool" });
    }
    const running = tool.execute(context, args);
    return context?.signal ? this.#orAborted(running, tool, context.signal) : running;
  }

  // After an abort, a tool needs time to end its processes and return their output. A tool that ignores the abort must
  // not block its caller: after the grace period, the executor returns a result in its place.
  #orAborted(running: Promise<ToolResult>, tool: BaseTool, signal: AbortSignal): Promise<ToolResult> {
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    const late = new Promise<ToolResult>((resolve) => {
      onAbort = () => {
        timer = setTimeout(() => resolve(this.#unresponsive(tool, signal)), this.#abortGraceMs);
      };
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return Promise.race([running, late]).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  }

  #unresponsive(tool: BaseTool, signal: AbortSignal): ToolResult {
    const notes = [`${tool.name} did not stop within ${this.#abortGraceMs}ms and may still be running`];
    return ToolResult.fail(abortMessage(tool.name, signal), { code: "aborted", notes });
  }
}

/** Emits the events `call` and `result` for every call of any tool. */
export function callEvents(events: Events): ToolHook {
  return {
    before({ tool, arguments: args, context }) {
      events.emit("call", { tool, arguments: args, ...callOrigin(context) });
    },
    after({ tool, context }, { success, code }, { durationMs }) {
      events.emit("result", { tool, success, ...(code && { code }), durationMs, ...callOrigin(context) });
    },
  };
}
