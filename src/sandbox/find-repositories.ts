// Finds the repositories in writable directories. Before a command, nacre protects them; after the command, it reports
// new ones. The search is bounded (support/limits.ts) and goes level by level, nearest first. It caches the listing of
// a directory until the directory changes, so a second search costs one system call per directory.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import {
  LISTING_SETTLED_MS,
  REPOSITORY_SEARCH_MAX_DEPTH,
  REPOSITORY_SEARCH_MAX_DIRECTORIES,
} from "../support/limits.ts";
import { type DirectoryEntry, entriesOf, fsPath } from "../support/path-text.ts";
import { gitDirOf } from "./git-file.ts";
import { gitlinksIn, indexStamp } from "./git-index.ts";

/** `git` is the git directory (`sub/.git`, or a bare repository), or a file that names the git directory. */
export interface FoundRepository {
  readonly git: string;
  readonly kind: "directory" | "file" | "bare";
}

export interface FoundRepositories {
  readonly repositories: readonly FoundRepository[];
  /** Directories that are gitlinks in an index. */
  readonly gitlinks: readonly string[];
}

interface Listing {
  readonly mtimeMs: number;
  /** Names of the directories to search next. */
  readonly below: readonly string[];
  readonly found: FoundRepository | undefined;
}

/**
 * Directories with the output of package managers and builds. Commands must be able to remove these directories. A
 * protected repository inside such a directory would prevent that, because a mount point cannot be removed.
 */
const SKIPPED = new Set([
  ...["node_modules", "bower_components", "build", "_build", "_deps", "deps", "dist", "out", "target"],
  ...["venv", "__pycache__", "Pods", "Carthage", "DerivedData"],
]);

export class RepositoryFinder {
  readonly #listings = new Map<string, Listing>();
  readonly #links = new Map<string, { readonly stamp: string; readonly paths: readonly string[] }>();

  find(roots: readonly string[]): FoundRepositories {
    // Limit the cache, because removed directories leave stale listings.
    if (this.#listings.size > 4 * REPOSITORY_SEARCH_MAX_DIRECTORIES * roots.length) this.#listings.clear();
    const repositories = new Map<string, FoundRepository>();
    const gitlinks = new Set<string>();
    const add = (found: FoundRepository | undefined) => {
      if (found) repositories.set(found.git, found);
    };
    for (const root of roots) {
      for (const found of this.#search(root)) add(found);
      for (const path of this.#gitlinksOf(root)) {
        gitlinks.add(path);
        add(this.#listingOf(path)?.found);
      }
    }
    return { repositories: [...repositories.values()], gitlinks: [...gitlinks] };
  }

  #search(root: string): FoundRepository[] {
    const found: FoundRepository[] = [];
    let level = [root];
    let count = 0;
    for (let depth = 0; depth <= REPOSITORY_SEARCH_MAX_DEPTH && level.length > 0; depth++) {
      const next: string[] = [];
      for (const directory of level) {
        if (++count > REPOSITORY_SEARCH_MAX_DIRECTORIES) return found;
        const listing = this.#listingOf(directory);
        if (listing?.found) found.push(listing.found);
        for (const name of listing?.below ?? []) next.push(join(directory, name));
      }
      level = next;
    }
    return found;
  }

  #listingOf(directory: string): Listing | undefined {
    const stat = attempt(() => lstatSync(fsPath(directory), { throwIfNoEntry: false }));
    if (!stat?.isDirectory()) {
      this.#listings.delete(directory);
      return undefined;
    }
    const known = this.#listings.get(directory);
    if (known?.mtimeMs === stat.mtimeMs) return known;
    const listing = listingFrom(directory, stat.mtimeMs);
    // Do not cache a listing right after a change: another change may get the same timestamp.
    if (Date.now() - stat.mtimeMs > LISTING_SETTLED_MS) this.#listings.set(directory, listing);
    return listing;
  }

  /** The gitlinks in the index of the repository at the top of `root`. */
  #gitlinksOf(root: string): readonly string[] {
    const git = gitDirOf(root);
    if (git === undefined) return [];
    const index = join(git, "index");
    const stamp = indexStamp(index);
    if (stamp === undefined) return [];
    const known = this.#links.get(index);
    if (known?.stamp === stamp) return known.paths;
    const paths = gitlinksIn(index).map((path) => join(root, path));
    this.#links.set(index, { stamp, paths });
    return paths;
  }
}

function listingFrom(directory: string, mtimeMs: number): Listing {
  const entries = attempt(() => entriesOf(directory)) ?? [];
  const found = repositoryAmong(entries, directory);
  const below = found?.kind === "bare" ? [] : entries.filter(isSearched).map(({ name }) => name);
  return { mtimeMs, below, found };
}

function isSearched(entry: DirectoryEntry): boolean {
  return entry.isDirectory() && !entry.name.startsWith(".") && !SKIPPED.has(entry.name);
}

function repositoryAmong(entries: readonly DirectoryEntry[], directory: string): FoundRepository | undefined {
  const git = entries.find(({ name }) => name === ".git");
  if (git) return { git: join(directory, ".git"), kind: git.isDirectory() ? "directory" : "file" };
  const isBare = ["HEAD", "objects", "refs"].every((part) => entries.some(({ name }) => name === part));
  return isBare ? { git: directory, kind: "bare" } : undefined;
}
