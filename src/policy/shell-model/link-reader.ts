// The one question about the file system that a judgement depends on. The caller answers it.

/** What the caller answers about the file system. Neither method throws. */
export interface LinkReader {
  /** The text of the symbolic link at an absolute path. null: something else is there. undefined: nothing is. */
  target(path: string): string | null | undefined;
  /** The names of the symbolic links in a directory. The list for a large directory may be incomplete. */
  namesIn(directory: string): readonly string[];
}
