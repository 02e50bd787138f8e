// The locations of rule files in a workspace. The policy reads them; a sandbox makes them read-only.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fsPath } from "./path-text.ts";

/** The folder with the rules of a directory, and the file in it. */
const FOLDER = ".nacre";
export const POLICY_FILE = "policy.json";

/**
 * The folders of the directory and of its parents, up to the root of the outermost repository. The nearest repository
 * would not be safe: a command could escape the rules above the workspace with `git init`.
 */
export function policyFolders(workspace: string): readonly string[] {
  const above = [workspace];
  let top = 0;
  for (let at = workspace; ; at = dirname(at)) {
    if (at !== workspace) above.push(at);
    if (existsSync(fsPath(join(at, ".git")))) top = above.length - 1;
    if (dirname(at) === at) break;
  }
  return above.slice(0, top + 1).map((directory) => join(directory, FOLDER));
}
