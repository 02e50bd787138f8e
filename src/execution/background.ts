// Starts a command that runs on its own, from where the session of its call is.
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { sessionOf } from "./in-session.ts";
import type { ResolvedExecutionOptions } from "./options.ts";

export async function startBackground(
  command: string,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
): Promise<ShellProcess> {
  return await sessionOf(context, options).start(command, {
    workingDir: context.workingDir,
    durable: options.durable,
    ...(context.env ? { env: context.env } : {}),
  });
}
