// What the command itself made so far: directories, links and copies.

import type { Links } from "./links.ts";

export class MadePaths {
  readonly directories = new Set<string>();
  /** Those on disk among them. */
  readonly links: Links;
  /** What each copy, hard link or moved file was before. */
  readonly copies = new Map<string, string>();

  constructor(links: Links) {
    this.links = links;
  }
}
