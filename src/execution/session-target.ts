// The session that a call runs in.
import type { ExecutionContext } from "../tool/context.ts";
import type { SessionTarget } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";
import { scopeOf } from "./scope.ts";

/** The session of a call. `named` is the directory that the call names. */
export function sessionTarget(
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
  named: string | undefined = context.workingDir,
): SessionTarget {
  const id = context.sessionId ?? "default";
  const scope = scopeOf(context);
  return {
    id,
    named,
    find: () => options.manager().sessions.find(id, { scope }),
    open: () =>
      options.manager().sessions.get(id, {
        workingDir: context.workingDir,
        scope,
        ...(options.profile === "none" ? {} : { profile: options.profile }),
      }),
  };
}
