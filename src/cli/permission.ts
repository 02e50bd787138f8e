// Whether the policy lets a command run, for a person at a terminal or a script without one.

import { resolveExecutionOptions } from "../execution/options.ts";
import { requirePermission } from "../execution/permission.ts";
import { allowingFlag } from "../mcp/allowing-flag.ts";
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
}

/** undefined if it may run; otherwise the exit code, and stderr has been told why. */
export async function refusal(io: CliIo, asked: Asked): Promise<number | undefined> {
  const { command, workingDir, policy } = asked;
  const context = createContext({ workingDir, ...approverFor(io) });
  try {
    await requirePermission(command, context, resolveExecutionOptions({ policy }));
    return undefined;
  } catch (error) {
    const code = error instanceof NacreError ? refusalExitCode(error.code) : undefined;
    if (!(error instanceof NacreError) || code === undefined) throw error;
    io.stderr.write(`nacre: ${error.message}\n`);
    const hint = flagHint(io, asked);
    if (hint !== undefined) io.stderr.write(`nacre: ${hint}\n`);
    return code;
  }
}

/** Only where somebody can answer. */
export function approverFor(io: CliIo): Pick<ExecutionContext, "approve"> {
  return io.interactive ? { approve: (request) => askPerson(io, request) } : {};
}

export function refusalExitCode(code: ErrorCode | undefined): number | undefined {
  if (code === "policy_denied") return EXIT.deny;
  return code === "approval_refused" ? EXIT.ask : undefined;
}

/** What would have let it run, where nobody could be asked. */
export function flagHint(io: CliIo, { command, workingDir, policy }: Asked): string | undefined {
  if (io.interactive) return undefined;
  const { judge, facts } = resolveExecutionOptions({ policy });
  const flag = allowingFlag(judge(command, facts(workingDir)));
  return flag === undefined ? undefined : `To allow it: nacre run ${flag} …`;
}
