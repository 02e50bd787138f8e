// Stages the entries that a commit will move into the workspace, as a tree in the directory of the commit:
//
//   files, directories, links, fifos   copies from the upper layer (copy-entries.ts)
//   sockets                            second names, because tar leaves sockets out
//   new hard links to unchanged files  second names of the files in the workspace
//   directories with other attributes  copies without their entries, each in a separate directory
import { chmodSync, linkSync, lstatSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { NacreError } from "../support/errors.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { systemCode } from "../support/system-error.ts";
import { copyEntries } from "./copy-entries.ts";
import { restoreTimes, timesOf } from "./directory-times.ts";
import { entryAt } from "./entry.ts";
import { type Change, staysDirectory } from "./scan-changes.ts";

/** The staged tree, relative to the directory of a commit. The entries are at `in/tree/PATH`. */
export const STAGED_TREE = `${PREVIEW_NAMES.incoming}/tree`;

/** The staged path of a directory with changed attributes. */
export function stagedDirectory(path: string, index: number): string {
  return `${PREVIEW_NAMES.incoming}/a${index}/${path}`;
}

export interface StagingPlan {
  readonly upper: string;
  readonly workspace: string;
  readonly commitDir: string;
}

/** `changes` are in the order of their paths, so that a directory comes before its entries. */
export async function stageEntries(
  { upper, workspace, commitDir }: StagingPlan,
  changes: readonly Change[],
): Promise<void> {
  const tree = join(commitDir, STAGED_TREE);
  mkdirSync(tree, { recursive: true, mode: 0o700 });
  const entering = changes.filter((change) => change.after && !staysDirectory(change));
  const linked = entering.filter(({ after, linkOf }) => linkOf ?? after?.type === "socket");
  const isLinked = new Set(linked);
  const copied = entering.filter((change) => !isLinked.has(change)).map(({ path }) => path);
  await copyEntries(upper, tree, copied);
  const times = timesOf(
    tree,
    linked.map(({ path }) => dirname(path)),
  );
  for (const { path, linkOf } of linked) {
    const parent = join(tree, dirname(path));
    if (!entryAt(parent)) mkdirSync(fsPath(parent), { recursive: true, mode: 0o700 });
    const target = fsPath(join(tree, path));
    withOpen(parent, () =>
      linkOf
        ? linkFromWorkspace(workspace, linkOf.path, target)
        : linkSync(fsPath(join(upper, path)), target),
    );
  }
  restoreTimes(tree, times);
  for (const [index, { path, before, hasOtherAttributes }] of changes.entries()) {
    if (hasOtherAttributes !== true || before?.type !== "directory") continue;
    const aside = join(commitDir, PREVIEW_NAMES.incoming, `a${index}`);
    mkdirSync(aside, { mode: 0o700 });
    await copyEntries(upper, aside, [path]);
  }
}

/** Opens the parent without following links: another program may have replaced it with a link. */
function linkFromWorkspace(workspace: string, path: string, target: string | Buffer): void {
  const directory = HeldDirectory.open(dirname(join(workspace, path)));
  if (!directory) throw missingContent(path);
  try {
    linkSync(directory.at(basename(path)), target);
  } catch (error) {
    if (systemCode(error) === "ENOENT") throw missingContent(path);
    throw error;
  } finally {
    directory.close();
  }
}

/** Makes the directory writable during `work`, because the command may have made it read-only for its owner. */
function withOpen(directory: string, work: () => void): void {
  const path = fsPath(directory);
  const mode = lstatSync(path).mode & 0o7777;
  chmodSync(path, mode | 0o700);
  try {
    work();
  } finally {
    chmodSync(path, mode);
  }
}

export function missingContent(path: string): NacreError {
  return new NacreError(
    "internal",
    `The new content of ${shownPath(path)} could not be copied. Nothing was written.`,
  );
}
