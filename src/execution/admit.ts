// What is asked of a command before anything starts, the same for every dialect: is it one, may it run.
import { checkCommand } from "../shell/check-start.ts";
import { throwIfAborted } from "../support/abort.ts";
import { NacreError } from "../support/errors.ts";
import type { ExecutionContext } from "../tool/context.ts";
import type { ResolvedExecutionOptions } from "./options.ts";
import { requirePermission } from "./permission.ts";

/** Returns where it may run; throws what the caller is to be told where it may not. */
export async function admit(
  command: string,
  context: ExecutionContext,
  options: ResolvedExecutionOptions,
  cwd = context.workingDir,
): Promise<void> {
  if (command.trim() === "") throw refusal("The command is blank: there is nothing to run.");
  if (isJson(command)) {
    throw refusal(
      'The command is JSON, not bash. Give the command itself as a plain string, for example "ls -la"; for several, join them with && or newlines.',
    );
  }
  checkCommand(command);
  await requirePermission(command, context, options, cwd);
  // A person may have taken long to answer, and the caller may be gone since.
  throwIfAborted(context.signal);
}

/** Whether an error of a call tells that its caller gave up. */
export function isCancelled(error: unknown, { signal }: ExecutionContext): boolean {
  return signal?.aborted === true && !(error instanceof NacreError);
}

function refusal(words: string): NacreError {
  return new NacreError("invalid_input", words);
}

// Models hand over a list of calls now and then. No bash command is a JSON list or object.
function isJson(command: string): boolean {
  const text = command.trim();
  if (!/^[[{][\s\S]*[\]}]$/.test(text)) return false;
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
