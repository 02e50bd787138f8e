// Protects repositories in writable directories: hooks and config name programs that git later runs outside the sandbox.
// Commits, branches and the index stay writable.
//
// All git directories are treated alike: of a writable root, of a submodule, of a nested repository, and of the main
// repository of a linked worktree. In each, hooks, config, config.worktree and commondir are read-only, as are the same parts
// of its linked worktrees, and the hooks and included files that its configuration names.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../support/attempt.ts";
import { GIT_MODULES_MAX_COUNT, NESTED_REPOSITORIES_MAX_COUNT } from "../support/limits.ts";
import { fsPath, namesIn, shownPath, textOfBytes } from "../support/path-text.ts";
import type { FoundRepository } from "./find-repositories.ts";
import { type ConfigTarget, configTargets, globalConfigs } from "./git-config.ts";
import { gitDirNamedBy } from "./git-file.ts";
import { type GuardedLink, linksAlong } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import { isWithin, kindOf, missingParts, realPath } from "./real-path.ts";

export interface GitGuard {
  /** Additional writable paths: the main repository of a linked worktree. */
  readonly writable: readonly string[];
  /** Paths in writable directories that are read-only. */
  readonly readOnly: readonly string[];
  readonly placeholders: readonly Placeholder[];
  readonly notEnforced: readonly string[];
  /** Links that a command can replace. */
  readonly links: readonly GuardedLink[];
}

export interface GuardOptions {
  /** Whether commands may write the config. */
  readonly gitConfig: boolean;
  readonly homes: readonly string[];
  /** undefined for a placeholder. */
  readonly kindAt: (path: string) => ReturnType<typeof kindOf>;
}

/** Protects all repositories in the writable directories; `found` are those that are not at their tops. */
export function guardRepositories(
  writable: readonly string[],
  found: readonly FoundRepository[],
  options: GuardOptions,
): GitGuard {
  const guard = new Guard(writable, options);
  for (const root of writable) guard.addRoot(root);
  for (const repository of found) guard.addNested(repository);
  guard.addGlobalTargets();
  return guard.result();
}

/** A part of a git directory, and the placeholder to create if it is missing; none if a command may create it. */
interface Part {
  readonly path: string;
  readonly missing?: Pick<Placeholder, "kind" | "content">;
}

class Guard {
  readonly #roots: readonly string[];
  readonly #options: GuardOptions;
  readonly #writable: string[] = [];
  readonly #readOnly = new Set<string>();
  readonly #placeholders = new Map<string, Placeholder>();
  readonly #notEnforced = new Set<string>();
  readonly #links: GuardedLink[] = [];
  /** Directories that relative hook paths of the user's own configuration can start from. */
  readonly #tops = new Set<string>();
  readonly #done = new Set<string>();
  #nestedCount = 0;

  constructor(roots: readonly string[], options: GuardOptions) {
    this.#roots = roots;
    this.#options = options;
  }

  result(): GitGuard {
    return {
      writable: this.#writable,
      readOnly: [...this.#readOnly],
      placeholders: [...this.#placeholders.values()],
      notEnforced: [...this.#notEnforced],
      links: this.#links,
    };
  }

  addRoot(root: string): void {
    this.#tops.add(root);
    const git = join(root, ".git");
    const kind = kindOf(git);
    if (kind === undefined) return;
    if (realPath(git) !== git) this.#addLinkedGit(git, root);
    else if (kind === "directory") this.#addGitDir(git, root);
    else this.#addLinked(git, root);
  }

  addNested({ git, kind }: FoundRepository): void {
    const top = kind === "bare" ? git : dirname(git);
    if (this.#done.has(git) || (kind !== "bare" && this.#roots.includes(top))) return;
    const isLinked = realPath(git) !== git;
    if (++this.#nestedCount > NESTED_REPOSITORIES_MAX_COUNT) {
      this.#readOnly.add(realPath(git));
      return;
    }
    this.#tops.add(top);
    if (isLinked) {
      this.#addLinkedGit(git, top);
      return;
    }
    if (kind !== "file") {
      this.#addGitDir(git, top);
      return;
    }
    this.#addGitFile(git, top);
  }

  /** A `.git` that is a link: a command can replace the link, but not change its target. */
  #addLinkedGit(git: string, top: string): void {
    this.#notEnforced.add(isLink(`hooks and config of ${shownPath(git)}`));
    this.#addLinks(git, "where git finds its repository");
    const path = realPath(git);
    if (!this.#isWritable(path)) return;
    const kind = kindOf(path);
    if (kind === "directory") this.#addGitDir(path, top);
    else if (kind === "file") this.#addGitFile(path, top);
  }

  #addGitFile(git: string, top: string): void {
    this.#readOnly.add(git);
    const named = gitDirNamedBy(git);
    if (named !== undefined && this.#isWritable(named) && kindOf(named) === "directory")
      this.#addGitDir(named, top);
  }

  #addLinks(path: string, role: string): void {
    this.#links.push(...linksAlong(path, role).filter((link) => this.#isWritable(link.path)));
  }

  /** Paths in writable directories that the user's own configuration names. */
  addGlobalTargets(): void {
    for (const file of globalConfigs(this.#options.homes)) {
      if (kindOf(file) === undefined) continue;
      for (const top of this.#tops) this.#addTargets(file, top);
    }
  }

  /**
   * A linked worktree: .git is a file that names a directory in the main repository, usually outside the workspace. The main
   * repository becomes writable only if that directory names this worktree: an earlier command can have written the
   * file, but nothing outside.
   */
  #addLinked(git: string, top: string): void {
    this.#readOnly.add(git);
    const own = gitDirNamedBy(git);
    if (own === undefined) return;
    // A submodule, or a git directory next to its working tree.
    if (this.#isWritable(own) && kindOf(own) === "directory") this.#addGitDir(own, top);
    const back = readQuietly(join(own, "gitdir")).trim();
    const common = readQuietly(join(own, "commondir")).trim();
    if (back === "" || common === "" || realPath(resolve(own, back)) !== git) return;
    const main = realPath(resolve(own, common));
    if (dirname(dirname(own)) !== main || isSymlink(join(own, "commondir"))) return;
    this.#writable.push(main);
    this.#addGitDir(main, top);
  }

  #addGitDir(git: string, top: string): void {
    if (this.#done.has(git)) return;
    this.#done.add(git);
    const { gitConfig } = this.#options;
    const parts = [...repositoryParts(git, gitConfig), ...moduleParts(git, gitConfig)];
    // A link cannot be a mount point, so a command could replace it. Make the whole git directory read-only.
    if (parts.some(({ path }) => isSymlink(path))) {
      this.#readOnly.add(git);
      return;
    }
    for (const { path, missing } of parts) {
      if (this.#options.kindAt(path) === undefined) {
        if (!missing) continue;
        this.#placeholders.set(path, { path, ...missing });
      }
      this.#readOnly.add(path);
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
    if (path !== named) this.#addLinks(named, `which git obeys (${key})`);
    if (!this.#isWritable(path) && !this.#isWritable(dirname(named))) return;
    if (path !== named && this.#isWritable(dirname(named))) {
      this.#notEnforced.add(isLink(`${shownPath(named)}, which git obeys (${key})`));
    }
    if (!this.#isWritable(path)) return;
    if (this.#roots.some((root) => isWithin(root, path))) {
      this.#notEnforced.add(`${shownPath(path)}, which git obeys (${key}): it contains the workspace`);
      return;
    }
    const missing = missingParts(path, this.#options.kindAt);
    if (!missing) return;
    for (const at of missing)
      this.#placeholders.set(at, { path: at, kind: at === path ? kind : "directory" });
    this.#readOnly.add(path);
  }

  #isWritable(path: string): boolean {
    return [...this.#roots, ...this.#writable].some((root) => isWithin(path, root));
  }
}

function repositoryParts(git: string, gitConfig: boolean): Part[] {
  return [
    { path: join(git, "hooks"), missing: { kind: "directory" } },
    ...(gitConfig ? [] : [{ path: join(git, "config"), missing: { kind: "file" } as const }]),
    ownConfig(git, gitConfig),
    // Names another directory for config and hooks. "." is git's default.
    { path: join(git, "commondir"), missing: { kind: "file", content: ".\n" } },
    ...worktreeParts(git, gitConfig),
  ];
}

/** git reads it if `extensions.worktreeConfig` is set. With `gitConfig`, commands may create it. */
function ownConfig(git: string, gitConfig: boolean): Part {
  return { path: join(git, "config.worktree"), ...(gitConfig ? {} : { missing: { kind: "file" } as const }) };
}

/** Each linked worktree has a directory here that leads git to it. */
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

/** Submodules have their repositories here, with their own hooks and config. */
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

function isLink(what: string): string {
  return `${what}: it is a link, which cannot be protected`;
}

function isSymlink(path: string): boolean {
  return kindOf(path) !== undefined && realPath(path) !== path;
}

function listed(directory: string): string[] {
  return attempt(() => namesIn(directory)) ?? [];
}

function readQuietly(path: string): string {
  return attempt(() => textOfBytes(readFileSync(fsPath(path)))) ?? "";
}
