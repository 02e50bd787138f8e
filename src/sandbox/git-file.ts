// Reads the files of a git repository: `.git` files, which name the git directory of submodules and linked worktrees,
// and small text files.
import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { GIT_CONFIG_MAX_BYTES } from "../support/limits.ts";
import { fsPath, textOfBytes } from "../support/path-text.ts";
import { kindOf, realPath } from "./real-path.ts";

/** The directory that the file names, whether or not it exists. */
export function gitDirNamedBy(file: string): string | undefined {
  const named = /^gitdir: (.+?)\n*$/.exec(textIn(file))?.[1];
  return named === undefined ? undefined : realPath(resolve(dirname(file), named));
}

/** The git directory of the working tree with this top. */
export function gitDirOf(top: string): string | undefined {
  const git = realPath(join(top, ".git"));
  const kind = kindOf(git);
  return kind === "file" ? gitDirNamedBy(git) : kind && git;
}

/** The text of a small file; empty for anything else. */
export function textIn(file: string): string {
  const bytes = bytesIn(file, GIT_CONFIG_MAX_BYTES);
  return bytes ? textOfBytes(bytes) : "";
}

/** The content of a regular file of at most this size. Does not read other kinds: reading a fifo would block. */
export function bytesIn(file: string, maxBytes: number): Buffer | undefined {
  return attempt(() => {
    const stat = statSync(fsPath(file), { throwIfNoEntry: false });
    return stat?.isFile() && stat.size <= maxBytes ? readFileSync(fsPath(file)) : undefined;
  });
}
