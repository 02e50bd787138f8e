// Admits the command of every form of `nacre run`: applies its policy and sandbox options, and asks the person at the
// terminal if the command needs approval.
import { type Admitted, admit, type SessionTarget } from "../execution/admission.ts";
import { type ExecutionOptions, resolveExecutionOptions } from "../execution/execution-options.ts";
import type { Session } from "../session/session.ts";
import type { ShellManager } from "../shell-manager.ts";
import { NacreError } from "../support/errors.ts";
import { createContext, type ExecutionContext } from "../tool/context.ts";
import { askPerson } from "./ask-person.ts";
import type { CliIo } from "./cli-io.ts";
import type { RunPlan } from "./commands/run-plan.ts";

/** Throws a refusal if the command may not run. */
export async function admitRun(
  io: CliIo,
  plan: RunPlan,
  manager: ShellManager,
  session?: Session,
  signal?: AbortSignal,
): Promise<Admitted> {
  const { command, background, workingDir, env, dryRun, terminal, preview } = plan;
  // Start the keeper while the policy loads. The command does not start yet. If the keeper fails, the start of the
  // command reports the error.
  if (!dryRun) manager.engine.ready().catch(() => {});
  const context = createContext({ workingDir, env, ...(signal && { signal }), ...approverFor(io) });
  const options = resolveExecutionOptions({ ...admissionOptionsOf(plan), manager });
  const wanted = {
    command,
    background,
    session: sessionTarget(session, plan),
    terminal,
    isPreview: preview && !dryRun,
  };
  const admitted = await admit(wanted, context, options);
  // A signal has ended the command line while the person was being asked: do not start the command.
  if (io.stopped?.aborted)
    throw new NacreError("aborted", "A signal ended nacre before the command started.");
  return admitted;
}

/** The policy and sandbox options of a command from the command line. */
export function admissionOptionsOf({
  policy,
  policyFile,
  confine,
  events,
  maxPreviewBytes,
}: Pick<RunPlan, "policy" | "policyFile" | "confine"> &
  Partial<Pick<RunPlan, "events" | "maxPreviewBytes">>): ExecutionOptions {
  return {
    policy,
    entryPoint: "cli",
    ...confine,
    ...(policyFile === undefined ? {} : { policyFile }),
    ...(events === undefined ? {} : { events }),
    ...(maxPreviewBytes === undefined ? {} : { maxPreviewBytes }),
  };
}

/** The callback `approve`, if a person at the terminal can answer. */
export function approverFor(io: CliIo): Pick<ExecutionContext, "approve"> {
  return io.interactive ? { approve: (request, asking) => askPerson(io, request, asking) } : {};
}

function sessionTarget(session: Session | undefined, { workingDir }: RunPlan): SessionTarget | null {
  if (!session) return null;
  return { id: session.id, named: workingDir, find: () => session, open: () => session };
}
