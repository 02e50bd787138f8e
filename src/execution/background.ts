// Starts a command that runs on its own.
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./options.ts";
import { scopeOf } from "./scope.ts";

export async function startBackground(
  command: string,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<ShellProcess> {
  return await options.manager().createShell({
    command,
    workingDir: context.workingDir,
    scope: scopeOf(context),
    durable: options.durable,
    ...(context.env ? { env: context.env } : {}),
  });
}
