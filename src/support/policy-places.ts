// Where rules lie in a workspace. Read by the policy, and kept from being written by a sandbox.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fsPath } from "./path-text.ts";

/** The folder that holds the rules of a directory, and the file in it. */
const FOLDER = ".nacre";
export const POLICY_FILE = "policy.json";

/**
 * In the directory itself, and above it up to the top of the outermost repository around it: a command can make a
 * repository of the workspace, and would be rid of the rules above it if the nearest one counted.
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
