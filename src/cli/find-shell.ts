// Finds shells of this user, no matter which program started them.
import { readdirSync } from "node:fs";
import { findSwept } from "../engine/swept-ids.ts";
import { sweptError } from "../shell/output-search.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { ShellManager } from "../shell-manager.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { SHELL_IDS_LISTED_MAX_COUNT } from "../support/limits.ts";
import { systemCode } from "../support/system-error.ts";

/** A manager that only reads. Throws if the state directory exists and cannot be read. */
export function readOnlyManager(): ShellManager {
  const manager = new ShellManager({ poolSize: 0 });
  try {
    readdirSync(manager.root.shellsDir);
  } catch (cause) {
    if (systemCode(cause) !== "ENOENT") {
      throw new NacreError(
        "internal",
        `The state directory ${manager.root.path} cannot be read: ${messageOf(cause)}. Set NACRE_HOME to a directory you own.`,
        { cause },
      );
    }
  }
  return manager;
}

/**
 * Finds a shell by its name or the beginning of its id. If several shells have the name, returns the one that was
 * started last.
 */
export function shellById(manager: ShellManager, id: string): ShellProcess {
  const shell = shellNamed(manager, id) ?? manager.find(id);
  if (shell) return shell;
  const swept = findSwept(manager.root, id);
  if (swept !== undefined) throw sweptError(swept);
  throw new NacreError("shell_not_found", `Shell not found: ${id}. ${describeRunning(manager)}`);
}

/** The shell that started last with this name. */
export function shellNamed(manager: ShellManager, name: string): ShellProcess | undefined {
  return manager.findAll().findLast(({ started }) => started.meta.name === name);
}

function describeRunning(manager: ShellManager): string {
  const running = manager.findAll().filter(({ isRunning }) => isRunning);
  if (running.length === 0) return "No shell is running; `nacre ps --all` lists ended shells.";
  const ids = running.slice(-SHELL_IDS_LISTED_MAX_COUNT).map(({ id }) => id);
  return `Running: ${ids.join(", ")}${running.length > SHELL_IDS_LISTED_MAX_COUNT ? ", …" : ""}. \`nacre ps\` lists them all.`;
}
