// The contexts in which a command runs other commands.

import type { CommandContext } from "./command.ts";
import { NO_FLOW } from "./flow.ts";

/** For a command in the same process. The command has its own redirections, and no input unless the caller adds one. */
export function inSameProcess(around: CommandContext, via: string): CommandContext {
  return { ...around, via: [...around.via, via], redirects: [], stdin: NO_FLOW };
}

/** For a command in a separate process. Its directory and variables do not affect the outer shell. */
export function inSeparateProcess(around: CommandContext, via: string): CommandContext {
  return { ...inSameProcess(around, via), scope: around.scope.fork() };
}
