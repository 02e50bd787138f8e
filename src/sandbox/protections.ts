// Collects how one view protects paths in writable directories: read-only mounts, placeholders for paths that a command
// must not create, and remarks on what cannot be protected. git-guard.ts, startup-guard.ts, trusted-base.ts and view.ts
// add protections.
import { isWithin, withParents } from "../support/path-text.ts";
import { type GuardedLink, linksAlong } from "./guarded-links.ts";
import type { Placeholder } from "./placeholders.ts";
import { kindOf, type PathKind, realPaths } from "./real-path.ts";

export class Protections {
  /** The writable directories that the options name. */
  readonly roots: readonly string[];
  /** Additional writable directories: main repositories of linked worktrees. */
  readonly moreWritable = new Set<string>();
  readonly readOnly = new Set<string>();
  readonly placeholders = new Map<string, Placeholder>();
  readonly notEnforced = new Set<string>();
  /** Links that a command can replace. */
  readonly links: GuardedLink[] = [];
  /** Resolves a path, with a cache. */
  readonly real = realPaths();
  readonly #isPlaceholder: (path: string) => boolean;
  readonly #kinds = new Map<string, PathKind | undefined>();

  constructor(roots: readonly string[], isPlaceholder: (path: string) => boolean) {
    this.roots = roots;
    this.#isPlaceholder = isPlaceholder;
  }

  isWritable(path: string): boolean {
    return [...this.roots, ...this.moreWritable].some((root) => isWithin(path, root));
  }

  /** undefined for a path that does not exist, or exists only as a placeholder of another sandbox. */
  kindAt(path: string): PathKind | undefined {
    if (!this.#kinds.has(path)) this.#kinds.set(path, this.#isPlaceholder(path) ? undefined : kindOf(path));
    return this.#kinds.get(path);
  }

  /** Makes a path read-only. If the path does not exist, plans the placeholder `missing` for it. */
  protect(path: string, missing: Omit<Placeholder, "path">): void {
    if (this.hold(path, missing)) this.readOnly.add(path);
  }

  /**
   * Plans placeholders for the missing components of a path. Returns false if no command can create the path, because
   * it is below a file or in a directory that is not writable.
   */
  hold(path: string, missing: Omit<Placeholder, "path">): boolean {
    const chain = withParents(path);
    const existing = chain.findIndex((at) => this.kindAt(at) !== undefined);
    const created = chain.slice(0, existing).reverse();
    if (created.length > 0 && this.kindAt(chain[existing] ?? "/") === "file") return false;
    if (created[0] !== undefined && !this.isWritable(created[0])) return false;
    for (const at of created) {
      if (at !== path) this.placeholders.set(at, { path: at, kind: "directory" });
      else if (!this.placeholders.has(path)) this.placeholders.set(path, { path, ...missing });
    }
    return true;
  }

  /** Reports that a link is not protected: a link cannot be a mount point, so a command can replace the link. */
  reportLink(what: string): void {
    this.notEnforced.add(`${what}: it is a link, which cannot be protected`);
  }

  /** Watches the links on this path that a command can replace. */
  watchLinks(path: string, role: string): void {
    this.links.push(...linksAlong(path, role).filter((link) => this.isWritable(link.path)));
  }
}
