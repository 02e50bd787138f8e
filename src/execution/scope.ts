// The scope and the reader of a call. The scope decides which shells the call sees, the reader at which position it
// reads their output.

import { sweptError } from "../shell/output-search.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import type { ShellManager } from "../shell-manager.ts";
import { NacreError } from "../support/errors.ts";
import { EXCERPT_MAX_CHARS, MESSAGE_LIST_MAX_COUNT } from "../support/limits.ts";
import { firstLine } from "../text/first-line.ts";
import type { ExecutionContext } from "../tool/context.ts";

export function scopeOf(context: ExecutionContext): string {
  return context.scope ?? "default";
}

/** Agents of one scope see the same shells, but each has its own position in the output. */
export function readerOf(context: ExecutionContext): string {
  return context.agentId ?? "";
}

/** The shell with this id. If there is none, throws an error that lists the existing shells. */
export function findShell(manager: ShellManager, id: string, context: ExecutionContext): ShellProcess {
  const scope = scopeOf(context);
  const shell = manager.getShell(id, { scope });
  if (shell) return shell;
  if (manager.isRemoved(id, scope)) throw sweptError(id);
  const known = manager.listShells({ scope }).slice(-MESSAGE_LIST_MAX_COUNT);
  const list = known.map((one) => `${one.id} (${one.status}): ${firstLine(one.command, EXCERPT_MAX_CHARS)}`);
  const hint = list.length === 0 ? "There are no shells." : `There are:\n${list.join("\n")}`;
  throw new NacreError(
    "shell_not_found",
    `Shell not found: ${id}. It may have been cleaned up, or the id is wrong. ${hint}`,
  );
}
