// Reports repositories and gitlinks that appeared while a command ran. Commands may create them (`git init` is ordinary work),
// but the running sandbox does not protect their config and hooks, and git obeys both outside the sandbox.
import { MESSAGE_PATHS_MAX_COUNT } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import type { FoundRepositories, FoundRepository, RepositoryFinder } from "./find-repositories.ts";

export class NewRepositories {
  readonly #finder: RepositoryFinder;
  readonly #roots: readonly string[];
  readonly #known = new Set<string>();

  /** `before`: the repositories that existed when the sandbox started. */
  constructor(finder: RepositoryFinder, roots: readonly string[], before: FoundRepositories) {
    this.#finder = finder;
    this.#roots = roots;
    this.#unknownRepositories(before);
    this.#unknown(before.gitlinks.map(gitlinkKey));
  }

  /** Remarks on repositories and gitlinks that are new since the last call. */
  remarks(): string[] {
    const found = this.#finder.find(this.#roots);
    const created = this.#unknownRepositories(found);
    const linked = this.#unknown(found.gitlinks.map(gitlinkKey)).map((key) => key.slice(GITLINK.length));
    return [
      ...(created.length > 0 ? [repositoryRemark(created)] : []),
      ...(linked.length > 0 ? [gitlinkRemark(linked)] : []),
    ];
  }

  #unknownRepositories({ repositories }: FoundRepositories): FoundRepository[] {
    const fresh = new Set(this.#unknown(repositories.map(({ git }) => git)));
    return repositories.filter(({ git }) => fresh.has(git));
  }

  /** Returns the unknown keys and remembers them. */
  #unknown(keys: readonly string[]): string[] {
    const fresh = keys.filter((key) => !this.#known.has(key));
    for (const key of fresh) this.#known.add(key);
    return fresh;
  }
}

const GITLINK = "gitlink ";

function gitlinkKey(path: string): string {
  return `${GITLINK}${path}`;
}

function repositoryRemark(created: readonly FoundRepository[]): string {
  const [{ git, kind } = { git: "", kind: "directory" }] = created;
  const where =
    kind === "file"
      ? `${shownPath(git)}, and config and hooks of the directory it names,`
      : `${shownPath(`${git}/config`)} and ${shownPath(`${git}/hooks`)}`;
  return `new repository: ${listed(created.map((one) => one.git))}, made while the command ran. Git runs programs that its config and hooks name, and no sandbox that has already started guards them: read ${where} before you run git there outside the sandbox.`;
}

function gitlinkRemark(paths: readonly string[]): string {
  const [first = ""] = paths;
  return `new gitlink in the index: ${listed(paths)}. "git status" outside the sandbox enters it and obeys its config: read ${shownPath(`${first}/.git/config`)} first, or use git status --ignore-submodules=all.`;
}

function listed(paths: readonly string[]): string {
  const rest = paths.length - MESSAGE_PATHS_MAX_COUNT;
  const named = paths.slice(0, MESSAGE_PATHS_MAX_COUNT).map(shownPath).join(", ");
  return rest > 0 ? `${named} and ${rest} more` : named;
}
