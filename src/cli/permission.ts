// Whether the policy lets a command run, for a person at a terminal or a script without one.

import { resolveExecutionOptions } from "../execution/options.ts";
import { requirePermission } from "../execution/permission.ts";
import { type ErrorCode, NacreError } from "../support/errors.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { createContext } from "../tool/context.ts";
import { askPerson } from "./ask-person.ts";
import type { CliIo } from "./cli-io.ts";
import { EXIT } from "./exit-code.ts";
import type { Policy } from "./option.ts";

export interface Asked {
  readonly command: string;
  readonly workingDir: string;
  readonly policy: Policy;
  readonly policyFile: string | undefined;
}

/** undefined if it may run; otherwise the exit code, and stderr has been told why. */
export async function refusal(io: CliIo, asked: Asked): Promise<number | undefined> {
  const { command, workingDir } = asked;
  const context = createContext({ workingDir, ...approverFor(io) });
  try {
    await requirePermission(command, context, resolveExecutionOptions(policyOf(asked)));
    return undefined;
  } catch (error) {
    const code = error instanceof NacreError ? refusalExitCode(error.code) : undefined;
    if (!(error instanceof NacreError) || code === undefined) throw error;
    io.stderr.write(`nacre: ${error.message}\n`);
    return code;
  }
}

/** What decides about a command that comes from the command line. */
export function policyOf({ policy, policyFile }: Pick<Asked, "policy" | "policyFile">) {
  return { policy, door: "cli", ...(policyFile === undefined ? {} : { policyFile }) } as const;
}

/** Only where somebody can answer. */
export function approverFor(io: CliIo): Pick<ExecutionContext, "approve"> {
  return io.interactive ? { approve: (request) => askPerson(io, request) } : {};
}

export function refusalExitCode(code: ErrorCode | undefined): number | undefined {
  if (code === "policy_denied") return EXIT.deny;
  return code === "approval_refused" ? EXIT.ask : undefined;
}
