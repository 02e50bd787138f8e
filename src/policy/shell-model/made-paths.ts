// Directories, links and copies that the command has created so far.

import type { Links } from "./links.ts";

export class MadePaths {
  readonly directories = new Set<string>();
  /** Includes those on disk. */
  readonly links: Links;
  /** The source of each copy, hard link or moved file. */
  readonly copies = new Map<string, string>();

  constructor(links: Links) {
    this.links = links;
  }
}
