// Restores the modification times of directories to the nanosecond. Moving an entry changes the time of its directory,
// and an undo must restore that time. Uses touch(1): Node sets times as floating point numbers, which are too coarse.

import { join } from "node:path";
import { spawnTouch } from "../engine/touch.ts";
import { attempt } from "../support/attempt.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { DIRECTORY_TIMES_BATCH_COUNT } from "../support/limits.ts";
import { entryAt } from "./entry.ts";

/** Paths relative to the workspace, each with its modification time in ns. */
export type DirectoryTimes = readonly (readonly [string, string])[];

export function timesOf(workspace: string, paths: Iterable<string>): DirectoryTimes {
  return [...new Set(paths)].flatMap((path) => {
    const entry = attempt(() => entryAt(join(workspace, path)));
    return entry?.type === "directory" ? [[path, entry.mtimeNs] as const] : [];
  });
}

/** Skips a directory that is gone or has become a link. */
export function restoreTimes(workspace: string, times: DirectoryTimes): void {
  for (let from = 0; from < times.length; from += DIRECTORY_TIMES_BATCH_COUNT) {
    const batch = times.slice(from, from + DIRECTORY_TIMES_BATCH_COUNT);
    const held = batch.flatMap(([path, ns]) => {
      const directory = attempt(() => HeldDirectory.open(path === "." ? workspace : join(workspace, path)));
      return directory ? [{ directory, ns }] : [];
    });
    try {
      spawnTouch(held.map(({ directory, ns }) => ({ path: directory.pathForOthers, ns })));
    } finally {
      for (const { directory } of held) directory.close();
    }
  }
}
