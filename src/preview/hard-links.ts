// Preserves hard links in a preview. When a command changes a file of the workspace, the kernel copies the file to the
// upper layer only under the name that the command used. The other names of the file would still have the old content.
// So before the command starts, nacre copies files with several names and links the copies to each other.
import { dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { HARD_LINKS_COPY_MAX_BYTES, HARD_LINKS_COPY_MAX_COUNT } from "../support/limits.ts";
import { copyEntries } from "./copy-entries.ts";
import { writeLinked } from "./preview-record.ts";
import type { LinkedFile } from "./workspace-survey.ts";

/** Returns the inode numbers of the files that were copied, each with the number of its names in the workspace. */
export async function plantHardLinks(
  { dir, workspace }: { readonly dir: string; readonly workspace: string },
  linked: readonly LinkedFile[],
): Promise<ReadonlyMap<string, number>> {
  const groups = new Map<string, LinkedFile[]>();
  for (const file of linked) groups.set(file.ino, [...(groups.get(file.ino) ?? []), file]);
  const shared = [...groups.values()].filter((names) => names.length > 1);
  const bytes = shared.reduce((sum, [first]) => sum + (first?.size ?? 0), 0);
  const names = shared.flat();
  if (names.length > 0)
    writeLinked(
      dir,
      names.map(({ path, ino }) => [path, ino]),
    );
  if (names.length === 0 || bytes > HARD_LINKS_COPY_MAX_BYTES || names.length > HARD_LINKS_COPY_MAX_COUNT)
    return new Map();
  const parents = new Set(names.flatMap(({ path }) => parentsBelowRoot(path)));
  const paths = [...[...parents].sort(), ...names.map(({ path }) => path)];
  await copyEntries(workspace, join(dir, PREVIEW_NAMES.upper), paths);
  return new Map(shared.map((group) => [group[0]?.ino ?? "", group.length]));
}

function parentsBelowRoot(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? [] : [...parentsBelowRoot(parent), parent];
}
