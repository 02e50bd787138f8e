// How the words of `nacre run` reach admission, the same for all of its forms: the policy, the sandbox around the command,
// and a person who can be asked if a terminal is there.
import { type Admitted, admit, type SessionTarget } from "../execution/admission.ts";
import { type ExecutionOptions, resolveExecutionOptions } from "../execution/execution-options.ts";
import type { Session } from "../session/session.ts";
import type { ShellManager } from "../shell-manager.ts";
import { createContext, type ExecutionContext } from "../tool/context.ts";
import { askPerson } from "./ask-person.ts";
import type { CliIo } from "./cli-io.ts";
import type { RunPlan } from "./commands/run-plan.ts";

/** Throws why the command may not run, if it may not. Without a session: for a bash of its own. */
export async function admitRun(
  io: CliIo,
  plan: RunPlan,
  manager: ShellManager,
  session?: Session,
): Promise<Admitted> {
  const { command, background, workingDir, env } = plan;
  const context = createContext({ workingDir, env, ...approverFor(io) });
  const options = resolveExecutionOptions({ ...judgingOf(plan), manager });
  return await admit({ command, background, session: targetOf(session, plan) }, context, options);
}

/** What decides about a command that comes from the command line. */
export function judgingOf({
  policy,
  policyFile,
  confine,
}: Pick<RunPlan, "policy" | "policyFile" | "confine">): ExecutionOptions {
  return { policy, door: "cli", ...confine, ...(policyFile === undefined ? {} : { policyFile }) };
}

/** Only where a person can answer. */
export function approverFor(io: CliIo): Pick<ExecutionContext, "approve"> {
  return io.interactive ? { approve: (request) => askPerson(io, request) } : {};
}

function targetOf(session: Session | undefined, { workingDir }: RunPlan): SessionTarget | null {
  if (!session) return null;
  return { id: session.id, named: workingDir, find: () => session, open: () => session };
}
