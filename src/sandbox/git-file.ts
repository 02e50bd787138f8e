// Reads `.git` files, which name the git directory of submodules and linked worktrees.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { fsPath, textOfBytes } from "../support/path-text.ts";
import { kindOf, realPath } from "./real-path.ts";

/** The directory that the file names, whether or not it exists. */
export function gitDirNamedBy(file: string): string | undefined {
  const text = attempt(() => textOfBytes(readFileSync(fsPath(file)))) ?? "";
  const named = /^gitdir: (.+?)\n*$/.exec(text)?.[1];
  return named === undefined ? undefined : realPath(resolve(dirname(file), named));
}

/** The git directory of the working tree with this top. */
export function gitDirOf(top: string): string | undefined {
  const git = realPath(join(top, ".git"));
  switch (kindOf(git)) {
    case "directory":
      return git;
    case "file":
      return gitDirNamedBy(git);
    case undefined:
      return undefined;
  }
}
