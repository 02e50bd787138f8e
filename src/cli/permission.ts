// Whether the policy lets a command run, for a person at a terminal or a script without one.

import { resolveExecutionOptions } from "../execution/options.ts";
import { requirePermission } from "../execution/permission.ts";
import { ShellManager } from "../shell/shell-manager.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { createContext } from "../tool/context.ts";
import { askPerson } from "./ask-person.ts";
import type { CliIo } from "./cli-io.ts";
import type { Policy } from "./option.ts";

export interface Asked {
  readonly command: string;
  readonly workingDir: string;
  readonly policy: Policy;
  readonly policyFile: string | undefined;
}

/** Throws why it may not run, if it may not. */
export async function askPermission(io: CliIo, asked: Asked): Promise<void> {
  const { command, workingDir } = asked;
  const context = createContext({ workingDir, ...approverFor(io) });
  // Only for what bash is asked about the text: one shell, and nothing that is kept ready for another.
  await using manager = new ShellManager({ poolSize: 0 });
  await requirePermission(command, context, resolveExecutionOptions({ ...policyOf(asked), manager }));
}

/** What decides about a command that comes from the command line. */
export function policyOf({ policy, policyFile }: Pick<Asked, "policy" | "policyFile">) {
  return { policy, door: "cli", ...(policyFile === undefined ? {} : { policyFile }) } as const;
}

/** Only where somebody can answer. */
export function approverFor(io: CliIo): Pick<ExecutionContext, "approve"> {
  return io.interactive ? { approve: (request) => askPerson(io, request) } : {};
}
