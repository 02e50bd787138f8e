// The locations of rule files and settings: those of the user, and those of a workspace, which a sandbox makes
// read-only.
import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { homeDirectory } from "./home-directory.ts";
import { fsPath, withParents } from "./path-text.ts";

/** The folder with the rules of a directory, and the rule file in that folder. */
const FOLDER = ".nacre";
export const POLICY_FILE = "policy.json";
export const SETTINGS_FILE = "config.json";

/** A file in $XDG_CONFIG_HOME/nacre or ~/.config/nacre. With `home`, the file of the user with that home directory. */
export function userConfigFile(name: string, home?: string): string {
  const xdg = process.env["XDG_CONFIG_HOME"] ?? "";
  // XDG_CONFIG_HOME counts only for this user. Ignore a relative path, as the XDG specification requires.
  const config = home === undefined && isAbsolute(xdg) ? xdg : join(home ?? homeDirectory(), ".config");
  return join(config, "nacre", name);
}

/**
 * The rule folders of the workspace and of its parents, up to the root of the outermost repository. Stopping at the
 * nearest repository would be unsafe: with `git init`, a command could disable the rules above the workspace.
 */
export function policyFolders(workspace: string): readonly string[] {
  const directories = withParents(workspace);
  const top = directories.findLastIndex((directory) => existsSync(fsPath(join(directory, ".git"))));
  return directories.slice(0, Math.max(0, top) + 1).map((directory) => join(directory, FOLDER));
}
