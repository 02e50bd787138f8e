// Directories, links and copies that the command has created so far.

import type { Links } from "./links.ts";

export class MadePaths {
  readonly directories = new Set<string>();
  /** Directories whose content came from another host. */
  readonly fetched = new Set<string>();
  /** Remotes that the command adds to a repository. */
  readonly remotes = new Set<string>();

  /** Links that the command created, and links on disk. */
  readonly links: Links;
  /** The source of each copy, hard link or moved file. */
  readonly copies = new Map<string, string>();

  constructor(links: Links) {
    this.links = links;
  }
}
