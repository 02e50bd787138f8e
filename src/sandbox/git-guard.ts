// Keeps a repository in a writable directory from being turned against its owner: hooks and config name programs
// that git runs the next time the person uses it, outside the sandbox. Commits, branches and the index stay
// writable.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { GIT_MODULES_MAX_COUNT } from "../support/limits.ts";
import type { Placeholder } from "./placeholders.ts";
import { kindOf, realPath } from "./real-path.ts";

export interface GitGuard {
  /** What is to be writable although it lies elsewhere: the main repository of a linked worktree. */
  readonly writable: readonly string[];
  /** What in there is read-only. */
  readonly readOnly: readonly string[];
  readonly placeholders: readonly Placeholder[];
  readonly notEnforced: readonly string[];
}

export interface GuardOptions {
  /** Config may be written. */
  readonly gitConfig: boolean;
  readonly exists: (path: string) => boolean;
}

/** For the repository whose top is this directory, if there is one. */
export function guardGit(directory: string, options: GuardOptions): GitGuard {
  const git = join(directory, ".git");
  switch (kindOf(git)) {
    case undefined:
      return NOTHING;
    case "directory":
      return guardGitDir(git, options);
    case "file":
      return realPath(git) === git ? guardLinked(git, options) : { ...NOTHING, notEnforced: [isLink(git)] };
  }
}

const NOTHING: GitGuard = { writable: [], readOnly: [], placeholders: [], notEnforced: [] };

function guardGitDir(git: string, { gitConfig, exists }: GuardOptions): GitGuard {
  const guarded = [...repositoryParts(git, gitConfig), ...moduleParts(git, gitConfig)];
  // A link cannot be mounted on: it could be removed and replaced. Then nothing in there is writable.
  if (guarded.some(({ path }) => isSymlink(path))) return { ...NOTHING, readOnly: [git] };
  const readOnly: string[] = [];
  const placeholders: Placeholder[] = [];
  for (const part of guarded) {
    if (!exists(part.path)) {
      if (!part.missing) continue;
      placeholders.push({ path: part.path, ...part.missing });
    }
    readOnly.push(part.path);
  }
  return { ...NOTHING, readOnly, placeholders };
}

interface Guarded {
  readonly path: string;
  /** What holds its place where it does not exist; nothing where that does no harm. */
  readonly missing?: Pick<Placeholder, "kind" | "content">;
}

function repositoryParts(git: string, gitConfig: boolean): Guarded[] {
  return [
    { path: join(git, "hooks"), missing: { kind: "directory" } },
    ...(gitConfig ? [] : [{ path: join(git, "config"), missing: { kind: "file" } as const }]),
    { path: join(git, "config.worktree") },
    // Names another directory to take config and hooks from. "." is what git does without it.
    { path: join(git, "commondir"), missing: { kind: "file", content: ".\n" } },
  ];
}

/** Submodules keep their repositories in here, with hooks and config of their own. */
function moduleParts(git: string, gitConfig: boolean): Guarded[] {
  const found: Guarded[] = [];
  const look = (directory: string) => {
    for (const name of namesIn(directory)) {
      if (found.length > GIT_MODULES_MAX_COUNT) return;
      const path = join(directory, name);
      if (kindOf(path) !== "directory") continue;
      if (kindOf(join(path, "HEAD")) === undefined) look(path);
      else found.push(...repositoryParts(path, gitConfig), ...moduleParts(path, gitConfig));
    }
  };
  look(join(git, "modules"));
  return found;
}

/**
 * A linked worktree: .git is a file that names a directory in the main repository, usually outside the workspace.
 * Made writable only if that directory names this worktree in turn: an earlier command may have written the file,
 * but not what is outside.
 */
function guardLinked(git: string, options: GuardOptions): GitGuard {
  const itself = { ...NOTHING, readOnly: [git] };
  const named = /^gitdir: (.+)\n?$/.exec(readQuietly(git))?.[1];
  if (named === undefined) return itself;
  const own = realPath(resolve(dirname(git), named));
  const back = readQuietly(join(own, "gitdir")).trim();
  const common = readQuietly(join(own, "commondir")).trim();
  if (back === "" || common === "" || realPath(resolve(own, back)) !== git) return itself;
  const main = realPath(resolve(own, common));
  if (dirname(dirname(own)) !== main || isSymlink(join(own, "commondir"))) return itself;
  const guard = guardGitDir(main, options);
  const ownParts = ["commondir", "gitdir", "config.worktree"].map((name) => join(own, name));
  return {
    ...guard,
    writable: [main],
    readOnly: [git, ...guard.readOnly, ...ownParts.filter((path) => kindOf(path) === "file")],
  };
}

function isLink(git: string): string {
  return `hooks and config of ${git}: it is a link, which cannot be protected`;
}

function isSymlink(path: string): boolean {
  return kindOf(path) !== undefined && realPath(path) !== path;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
