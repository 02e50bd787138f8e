// The contexts in which a command runs others.

import type { CommandContext } from "./command.ts";
import { NO_FLOW } from "./flow.ts";

/** The context of what a command runs: redirections are its own, and it passes on no input unless the caller adds it. */
export function insideOf(around: CommandContext, via: string): CommandContext {
  return { ...around, via: [...around.via, via], redirects: [], stdin: NO_FLOW };
}

/** The same in a process of its own, whose directory and variables do not come back. */
export function apartFrom(around: CommandContext, via: string): CommandContext {
  return { ...insideOf(around, via), scope: around.scope.fork() };
}
