// Formats, sorts and limits the paths of search results.
import { FILE_RESULT_MAX_CHARS } from "../support/limits.ts";
import { isWithin, shownPath } from "../support/path-text.ts";

/**
 * The path for a model. Shows a path inside the session's directory relative to this directory. Later calls accept such
 * a path.
 */
export function shownFrom(directory: string, path: string): string {
  return shownPath(path !== directory && isWithin(path, directory) ? relativeTo(directory, path) : path);
}

export function relativeTo(directory: string, path: string): string {
  return directory === "/" ? path.slice(1) : path.slice(directory.length + 1);
}

/** Makes a path from the output of a search program absolute. A relative path starts at `root`. */
export function absoluteFrom(root: string, path: string): string {
  if (path.startsWith("/")) return path;
  return `${root === "/" ? "" : root}/${path.replace(/^\.\//, "")}`;
}

/** Sorts by character code, independent of the user's locale. */
export function sortedPaths(paths: readonly string[]): string[] {
  return [...paths].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The first entries, up to `maxCount` entries and FILE_RESULT_MAX_CHARS characters. */
export function firstEntries(entries: readonly string[], maxCount: number): readonly string[] {
  let chars = 0;
  const cut = entries.slice(0, maxCount).findIndex((entry) => {
    chars += entry.length + 1;
    return chars > FILE_RESULT_MAX_CHARS;
  });
  return entries.slice(0, cut < 0 ? maxCount : Math.max(1, cut));
}
