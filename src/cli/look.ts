// A look at the shells of this user, whichever program has started them.
import { readdirSync } from "node:fs";
import type { ShellProcess } from "../shell/shell-process.ts";
import { ShellManager } from "../shell-manager.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";

/** Starts nothing; says clearly where the state directory cannot be read. */
export function lookAtShells(): ShellManager {
  const manager = new ShellManager({ poolSize: 0 });
  try {
    readdirSync(manager.root.shellsDir);
  } catch (cause) {
    // No directory, no shells.
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

/** A shell by what a person has typed of its id. */
export function shellById(manager: ShellManager, id: string): ShellProcess {
  const shell = manager.find(id);
  if (shell) return shell;
  throw new NacreError("shell_not_found", `Shell not found: ${id}. ${whatThereIs(manager)}`);
}

function whatThereIs(manager: ShellManager): string {
  const running = manager.findAll().filter(({ isRunning }) => isRunning);
  if (running.length === 0) return "None is running; `nacre ps --all` lists those that have ended.";
  const ids = running.slice(-NAMED_COUNT).map(({ id }) => id);
  return `Running: ${ids.join(", ")}${running.length > NAMED_COUNT ? ", …" : ""}. \`nacre ps\` lists them all.`;
}

const NAMED_COUNT = 5;
