// The locations of rule files in a workspace. The policy reads them; a sandbox makes them read-only.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fsPath, withParents } from "./path-text.ts";

/** The folder with the rules of a directory, and the file in it. */
const FOLDER = ".nacre";
export const POLICY_FILE = "policy.json";

/**
 * The folders of the directory and of its parents, up to the root of the outermost repository. The nearest repository
 * would not be safe: a command could escape the rules above the workspace with `git init`.
 */
export function policyFolders(workspace: string): readonly string[] {
  const directories = withParents(workspace);
  const top = directories.findLastIndex((directory) => existsSync(fsPath(join(directory, ".git"))));
  return directories.slice(0, Math.max(0, top) + 1).map((directory) => join(directory, FOLDER));
}
