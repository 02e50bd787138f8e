// Lets a host see every call before and after it: audit, metrics. Hooks watch; they cannot change a call or
// forbid it, and one that throws or hangs does not break it.

import { HOOK_MAX_MS } from "../support/limits.ts";
import { isThenable } from "../support/realms.ts";
import type { ExecutionContext } from "./context.ts";
import type { ToolExecution } from "./execution.ts";
import type { ToolResult } from "./result.ts";
import { wordsOf } from "./thrown.ts";

export interface ToolCall {
  readonly tool: string;
  /** As the caller gave them, not validated yet. */
  readonly arguments: unknown;
  readonly context: ExecutionContext;
}

export interface ToolHook {
  before?(call: ToolCall): void | Promise<void>;
  after?(call: ToolCall, result: ToolResult, execution: ToolExecution): void | Promise<void>;
}

/** Runs one part of every hook, in order. What went wrong comes back, one sentence per hook that failed. */
export async function runHooks(
  hooks: readonly ToolHook[],
  part: "before" | "after",
  invoke: (hook: ToolHook) => void | Promise<void>,
): Promise<string[]> {
  const failures: string[] = [];
  for (const hook of hooks) {
    try {
      await withinLimit(invoke(hook));
    } catch (thrown) {
      failures.push(`A hook ${part} the call failed: ${wordsOf(thrown)}`);
    }
  }
  return failures;
}

async function withinLimit(work: void | Promise<void>): Promise<void> {
  if (!isThenable(work)) return;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${HOOK_MAX_MS}ms`)), HOOK_MAX_MS);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
