// Which session a call runs in, and where that session is.
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
    find: () => options.manager().findSession(id, { scope }),
    open: () =>
      options.manager().session(id, {
        workingDir: context.workingDir,
        scope,
        ...(options.profile === "none" ? {} : { profile: options.profile }),
      }),
  };
}
