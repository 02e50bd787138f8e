// Handles a commit that removes one of the several names (hard links) of a file. The name that stays in the workspace
// is called the twin. If the commit's directory kept the removed name, the file would still count as a hard link. So a
// commit drops the removed name, and an undo creates it again from the twin.
import { linkSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { fsPath, isWithin } from "../support/path-text.ts";
import { type DirectoryTimes, restoreTimes } from "./directory-times.ts";
import { type Entry, entryAt } from "./entry.ts";
import { type Change, staysDirectory } from "./scan-changes.ts";

export interface Twin {
  /** The dropped name, relative to the directory of the commit. */
  readonly at: string;
  /** The name that stays, relative to the workspace. */
  readonly twin: string;
  readonly ino: string;
  /** Modification time in ns of the directory that contains the dropped name, if it left the workspace too. */
  readonly directoryTime?: string;
}

/**
 * `linked`: paths and inode numbers of files with several names. `outOf`: returns the path to which a change moves the
 * entry that it replaces.
 */
export function twinsAmong(
  changes: readonly Change[],
  linked: readonly (readonly [string, string])[],
  outOf: (change: Change) => string | undefined,
): Twin[] {
  if (linked.length === 0) return [];
  const leaving = changes.filter((change) => change.before && !staysDirectory(change));
  const left = leaving.map(({ path }) => path);
  const staying = new Map(
    linked
      .filter(([path]) => !left.some((one) => isWithin(path, one)))
      .map(([path, ino]) => [ino, path] as const),
  );
  return leaving.flatMap((change) => {
    const out = outOf(change);
    if (out === undefined) return [];
    const tree = change.tree ?? [];
    const times = new Map(tree.map(([path, { mtimeNs }]) => [path, mtimeNs]));
    const names: (readonly [string, Entry])[] = [
      ...(change.before ? [["", change.before] as const] : []),
      ...tree,
    ];
    return names.flatMap(([below, { type, ino }]): Twin[] => {
      const twin = type === "file" ? staying.get(ino) : undefined;
      if (twin === undefined) return [];
      if (below === "") return [{ at: out, twin, ino }];
      const parent = dirname(below);
      const directoryTime = parent === "." ? change.before?.mtimeNs : times.get(parent);
      return [
        { at: `${out}/${below}`, twin, ino, ...(directoryTime === undefined ? {} : { directoryTime }) },
      ];
    });
  });
}

export function dropTwins(commitDir: string, twins: readonly Twin[]): void {
  for (const { at } of twins) attempt(() => unlinkSync(fsPath(join(commitDir, at))));
}

/** Can be repeated. Skips a twin that is another file now. */
export function restoreTwins(commitDir: string, workspace: string, twins: readonly Twin[]): void {
  for (const { at, twin, ino } of twins) {
    const path = join(commitDir, at);
    if (attempt(() => entryAt(path))) continue;
    const directory = attempt(() => HeldDirectory.open(dirname(join(workspace, twin))));
    if (!directory) continue;
    try {
      const source = directory.textAt(basename(twin));
      if (attempt(() => entryAt(source))?.ino === ino) attempt(() => linkSync(fsPath(source), fsPath(path)));
    } finally {
      directory.close();
    }
  }
  const times: DirectoryTimes = twins.flatMap(({ at, directoryTime }) =>
    directoryTime === undefined ? [] : [[dirname(at), directoryTime] as const],
  );
  restoreTimes(commitDir, times);
}
