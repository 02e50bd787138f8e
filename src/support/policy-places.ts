// The locations of rule files in a workspace. The policy reads them; a sandbox makes them read-only.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fsPath, withParents } from "./path-text.ts";

/** The folder with the rules of a directory, and the rule file in that folder. */
const FOLDER = ".nacre";
export const POLICY_FILE = "policy.json";

/**
 * The rule folders of the workspace and of its parents, up to the root of the outermost repository. To stop at the
 * nearest repository would be unsafe: with `git init`, a command could escape the rules above the workspace.
 */
export function policyFolders(workspace: string): readonly string[] {
  const directories = withParents(workspace);
  const top = directories.findLastIndex((directory) => existsSync(fsPath(join(directory, ".git"))));
  return directories.slice(0, Math.max(0, top) + 1).map((directory) => join(directory, FOLDER));
}
