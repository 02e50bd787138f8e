// Protects repositories in writable directories. Otherwise git would later run, outside the sandbox, programs that a
// command put into hooks or config. Commits, branches and the index stay writable.
//
// All git directories are treated alike: those of writable roots, submodules and nested repositories, and the main
// repository of a linked worktree. In each git directory these are read-only: hooks, config, config.worktree and
// commondir, the same parts of its linked worktrees, and the hooks and included files that its configuration names.
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { GIT_MODULES_MAX_COUNT, NESTED_REPOSITORIES_MAX_COUNT } from "../support/limits.ts";
import { isWithin, namesIn, shownPath } from "../support/path-text.ts";
import type { FoundRepository } from "./find-repositories.ts";
import { type ConfigTarget, configTargets, globalConfigs } from "./git-config.ts";
import { gitDirNamedBy, textIn } from "./git-file.ts";
import type { Placeholder } from "./placeholders.ts";
import type { Protections } from "./protections.ts";
import { kindOf, realPath } from "./real-path.ts";

interface GuardOptions {
  /** Whether commands may write .git/config. */
  readonly gitConfig: boolean;
  readonly homes: readonly string[];
}

/** Protects all repositories in the writable directories. `found` are those that the search found. */
export function guardRepositories(
  protections: Protections,
  found: readonly FoundRepository[],
  options: GuardOptions,
): void {
  const guard = new Guard(protections, options);
  for (const root of protections.roots) guard.addRoot(root);
  for (const repository of found) guard.addNested(repository);
  guard.addGlobalTargets();
}

/**
 * A part of a git directory. `missing`: the placeholder to create if the part is missing. Without it, a command may
 * create the part.
 */
interface Part {
  readonly path: string;
  readonly missing?: Omit<Placeholder, "path">;
}

class Guard {
  readonly #protections: Protections;
  readonly #options: GuardOptions;
  /** The possible base directories of relative hook paths in the user's own configuration. */
  readonly #tops = new Set<string>();
  readonly #done = new Set<string>();
  #nestedCount = 0;

  constructor(protections: Protections, options: GuardOptions) {
    this.#protections = protections;
    this.#options = options;
  }

  addRoot(root: string): void {
    this.#tops.add(root);
    const git = join(root, ".git");
    this.#addGit(git, root);
    if (kindOf(git) === "file" && realPath(git) === git) this.#openMainRepository(git, root);
  }

  addNested({ git, kind }: FoundRepository): void {
    const top = kind === "bare" ? git : dirname(git);
    if (this.#done.has(git) || (kind !== "bare" && this.#protections.roots.includes(top))) return;
    if (++this.#nestedCount > NESTED_REPOSITORIES_MAX_COUNT) {
      this.#protections.readOnly.add(realPath(git));
      return;
    }
    this.#tops.add(top);
    this.#addGit(git, top);
  }

  /** Protects paths in writable directories that the user's own configuration names. */
  addGlobalTargets(): void {
    for (const file of globalConfigs(this.#options.homes)) {
      if (kindOf(file) === undefined) continue;
      for (const top of this.#tops) this.#addTargets(file, top);
    }
  }

  /** `git` is a git directory, a file that names one, or a link to either. A link itself cannot be protected. */
  #addGit(git: string, top: string): void {
    const path = realPath(git);
    if (path !== git) {
      this.#protections.reportLink(`hooks and config of ${shownPath(git)}`);
      this.#protections.watchLinks(git, "where git finds its repository");
    }
    this.#addGitDir(path, top);
    if (kindOf(path) !== "file" || !this.#protections.isWritable(path)) return;
    this.#protections.readOnly.add(path);
    // The file belongs to a submodule, or to a working tree that is separate from its git directory.
    const named = gitDirNamedBy(path);
    if (named !== undefined) this.#addGitDir(named, top);
  }

  /**
   * Handles a linked worktree. Its .git file names a directory in the main repository, usually outside the workspace.
   * The main repository becomes writable only if that directory in turn names this worktree. An earlier command may
   * have written the .git file, but could not write a directory outside the workspace.
   */
  #openMainRepository(git: string, top: string): void {
    const own = gitDirNamedBy(git);
    if (own === undefined) return;
    const back = textIn(join(own, "gitdir")).trim();
    const common = textIn(join(own, "commondir")).trim();
    if (back === "" || common === "" || realPath(resolve(own, back)) !== git) return;
    const main = realPath(resolve(own, common));
    if (dirname(dirname(own)) !== main || isSymlink(join(own, "commondir"))) return;
    this.#protections.moreWritable.add(main);
    this.#addGitDir(main, top);
  }

  #addGitDir(git: string, top: string): void {
    if (this.#done.has(git) || kindOf(git) !== "directory" || !this.#protections.isWritable(git)) return;
    this.#done.add(git);
    const { gitConfig } = this.#options;
    const parts = [...repositoryParts(git, gitConfig), ...moduleParts(git, gitConfig)];
    // A link cannot be a mount point, so a command could replace the link. Make the whole git directory read-only.
    if (parts.some(({ path }) => isSymlink(path))) {
      this.#protections.readOnly.add(git);
      return;
    }
    for (const { path, missing } of parts) {
      if (missing) this.#protections.protect(path, missing);
      else if (this.#protections.kindAt(path) !== undefined) this.#protections.readOnly.add(path);
    }
    for (const { path } of parts) if (/\/config(\.worktree)?$/.test(path)) this.#addTargets(path, top);
    if (gitConfig) this.#addTargets(join(git, "config"), top);
  }

  #addTargets(config: string, top: string): void {
    const [home] = this.#options.homes;
    for (const target of configTargets(config, { top, home })) this.#addTarget(target);
  }

  #addTarget({ path: named, kind, key }: ConfigTarget): void {
    const path = realPath(named);
    const role = `which git reads (${key})`;
    if (path !== named) {
      this.#protections.watchLinks(named, role);
      if (this.#protections.isWritable(dirname(named)))
        this.#protections.reportLink(`${shownPath(named)}, ${role}`);
    }
    if (!this.#protections.isWritable(path)) return;
    if (this.#protections.roots.some((root) => isWithin(root, path))) {
      this.#protections.notEnforced.add(
        `${shownPath(path)}, ${role}: it contains a directory that commands may write`,
      );
      return;
    }
    this.#protections.protect(path, { kind });
  }
}

function repositoryParts(git: string, gitConfig: boolean): Part[] {
  return [
    { path: join(git, "hooks"), missing: { kind: "directory" } },
    ...(gitConfig ? [] : [{ path: join(git, "config"), missing: { kind: "file" } as const }]),
    ownConfig(git, gitConfig),
    // The file commondir can name another directory for config and hooks. "." is git's default.
    { path: join(git, "commondir"), missing: { kind: "file", content: ".\n" } },
    ...worktreeParts(git, gitConfig),
  ];
}

/**
 * The part config.worktree, which git reads if `extensions.worktreeConfig` is set. With `gitConfig`, commands may
 * create this file.
 */
function ownConfig(git: string, gitConfig: boolean): Part {
  return { path: join(git, "config.worktree"), ...(gitConfig ? {} : { missing: { kind: "file" } as const }) };
}

/** The parts of the directories in `worktrees`. Each such directory belongs to a linked worktree. */
function worktreeParts(git: string, gitConfig: boolean): Part[] {
  const directory = join(git, "worktrees");
  return listed(directory)
    .slice(0, GIT_MODULES_MAX_COUNT)
    .map((name) => join(directory, name))
    .filter((own) => kindOf(own) === "directory")
    .flatMap((own) => [
      { path: join(own, "commondir") },
      { path: join(own, "gitdir") },
      ownConfig(own, gitConfig),
    ]);
}

/** The parts of the repositories in `modules`: each belongs to a submodule and has its own hooks and config. */
function moduleParts(git: string, gitConfig: boolean): Part[] {
  const found: Part[] = [];
  const search = (directory: string) => {
    for (const name of listed(directory)) {
      if (found.length > GIT_MODULES_MAX_COUNT) return;
      const path = join(directory, name);
      if (kindOf(path) !== "directory") continue;
      if (kindOf(join(path, "HEAD")) === undefined) search(path);
      else found.push(...repositoryParts(path, gitConfig), ...moduleParts(path, gitConfig));
    }
  };
  search(join(git, "modules"));
  return found;
}

function isSymlink(path: string): boolean {
  return kindOf(path) !== undefined && realPath(path) !== path;
}

function listed(directory: string): string[] {
  return attempt(() => namesIn(directory)) ?? [];
}
