// What the command itself made so far: directories, links and copies.

export class MadePaths {
  readonly directories = new Set<string>();
  /** Where each symbolic link leads. */
  readonly links = new Map<string, string>();
  /** What each copy, hard link or moved file was before. */
  readonly copies = new Map<string, string>();
}
