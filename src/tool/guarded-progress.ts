// Keeps a host's progress listener from breaking the call it listens to. BaseTool.execute hands every
// tool a context guarded here, so no tool has to think of it.

import type { ExecutionContext, ToolProgress } from "./context.ts";
import { wordsOf } from "./thrown.ts";

export interface GuardedProgress {
  readonly context: ExecutionContext;
  /** What the listener threw first, in words. */
  readonly failure: () => string | undefined;
}

export function guardProgress(context: ExecutionContext): GuardedProgress {
  const { onProgress } = context;
  if (onProgress === undefined) return { context, failure: () => undefined };

  let first: string | undefined;
  const remember = (thrown: unknown) => {
    first ??= wordsOf(thrown);
  };
  const guarded = (progress: ToolProgress) => {
    try {
      // An async listener type-checks as one that returns nothing; its rejection would end the process.
      Promise.resolve(onProgress(progress)).catch(remember);
    } catch (thrown) {
      remember(thrown);
    }
  };
  return { context: { ...context, onProgress: guarded }, failure: () => first };
}
