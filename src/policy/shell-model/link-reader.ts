// The file-system queries that a judgment depends on. The caller implements them.

/** Neither method throws. */
export interface LinkReader {
  /** The target of the link at an absolute path. null: the path is not a link. undefined: nothing exists there. */
  target(path: string): string | null | undefined;
  /** The names of the symbolic links in a directory; incomplete for a large directory. */
  namesIn(directory: string): readonly string[];
}
