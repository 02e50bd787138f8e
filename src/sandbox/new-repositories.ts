// Reports repositories and gitlinks that appeared while a command ran. Commands may create them, because `git init` is
// ordinary work. But the running sandbox does not protect the config and hooks of a new repository, and git outside the
// sandbox uses both.
import { listed } from "../support/excerpt.ts";
import { MESSAGE_PATHS_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import type { FoundRepositories, FoundRepository, RepositoryFinder } from "./find-repositories.ts";

export class NewRepositories {
  readonly #finder: RepositoryFinder;
  readonly #roots: readonly string[];
  readonly #knownGits = new Set<string>();
  readonly #knownLinks = new Set<string>();

  /** `before`: the repositories that existed when the sandbox started. */
  constructor(finder: RepositoryFinder, roots: readonly string[], before: FoundRepositories) {
    this.#finder = finder;
    this.#roots = roots;
    this.#takeNew(before);
  }

  /** Remarks on repositories and gitlinks that are new since the last call. */
  remarks(): string[] {
    const { repositories, gitlinks } = this.#takeNew(this.#finder.find(this.#roots));
    return [
      ...(repositories.length > 0 ? [repositoryRemark(repositories)] : []),
      ...(gitlinks.length > 0 ? [gitlinkRemark(gitlinks)] : []),
    ];
  }

  /** Returns the repositories and gitlinks that were unknown, and remembers them. */
  #takeNew(found: FoundRepositories): FoundRepositories {
    const repositories = found.repositories.filter(({ git }) => !this.#knownGits.has(git));
    const gitlinks = found.gitlinks.filter((path) => !this.#knownLinks.has(path));
    for (const { git } of repositories) this.#knownGits.add(git);
    for (const path of gitlinks) this.#knownLinks.add(path);
    return { repositories, gitlinks };
  }
}

function repositoryRemark(created: readonly FoundRepository[]): string {
  const [{ git, kind } = { git: "", kind: "directory" }] = created;
  const where =
    kind === "file"
      ? `${shownPath(git)}, and the config and hooks of the directory that it names,`
      : `${shownPath(`${git}/config`)} and ${shownPath(`${git}/hooks`)}`;
  return `new repository: ${pathList(created.map((one) => one.git))}, made while the command ran. Git runs programs that the config and hooks of a repository name, and the running sandbox does not protect them. Read ${where} before you run git there outside the sandbox.`;
}

function gitlinkRemark(paths: readonly string[]): string {
  const [first = ""] = paths;
  return `new gitlink in the index: ${pathList(paths)}. Outside the sandbox, "git status" enters a gitlink and uses the config there. Read ${shownPath(`${first}/.git/config`)} first, or use git status --ignore-submodules=all.`;
}

function pathList(paths: readonly string[]): string {
  return listed(paths.map(shownPath), paths.length, MESSAGE_PATHS_MAX_COUNT);
}
