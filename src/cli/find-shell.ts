// A shell by what a person has typed of its id.
import type { ShellManager } from "../shell/shell-manager.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { NacreError } from "../support/errors.ts";

export function findShell(manager: ShellManager, id: string): ShellProcess {
  const shell = manager.find(id);
  if (shell) return shell;
  throw new NacreError("shell_not_found", `Shell not found: ${id}. \`nacre ps\` lists those there are.`);
}
