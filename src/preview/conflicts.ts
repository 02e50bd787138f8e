// Compares the workspace with its state at the preview or the commit.
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { listed } from "../support/excerpt.ts";
import { CONFLICTS_SHOWN_MAX_COUNT } from "../support/limits.ts";
import { namesIn, resolvedPath, shownPath, wirePath } from "../support/path-text.ts";
import { type Entry, entryAt, isUnchanged } from "./entry.ts";
import type { Journal } from "./journal.ts";
import type { Change } from "./scan-changes.ts";

export interface Conflict {
  readonly path: string;
  readonly what: string;
}

/** The error of a commit or undo if the workspace has changed. Nothing was written. */
export class PreviewConflict extends NacreError {
  readonly conflicts: readonly Conflict[];

  constructor(what: string, conflicts: readonly Conflict[], advice: string) {
    const list = conflicts.map((one) => `${shownPath(one.path)} ${one.what}`);
    super(
      "conflict",
      `${what}: ${listed(list, list.length, CONFLICTS_SHOWN_MAX_COUNT)}. Nothing was written. ${advice}`,
    );
    this.conflicts = conflicts.map((one) => ({ ...one, path: wirePath(one.path) }));
  }
}

/** The differences between the workspace now and at the preview. */
export function conflictsWith(workspace: string, changes: readonly Change[]): Conflict[] {
  const found: Conflict[] = [];
  const created = new Set(changes.filter(({ after }) => after?.type === "directory").map(({ path }) => path));
  for (const { path, before, tree, linkOf, isRaced } of changes) {
    if (isRaced) found.push({ path, what: "changed while the preview ran" });
    const now = entryOf(workspace, path);
    if (before === null) {
      if (now) found.push({ path, what: "exists now" });
      else if (!isReachable(workspace, path, created))
        found.push({ path, what: "has no directory to be created in" });
      continue;
    }
    if (!now) found.push({ path, what: "is gone" });
    else if (!isUnchanged(now, before)) found.push({ path, what: "has changed since the preview" });
    else if (tree) found.push(...changesBelow(workspace, path, tree));
    if (linkOf && !isUnchanged(entryOf(workspace, linkOf.path), linkOf.entry))
      found.push({ path: linkOf.path, what: "has changed since the preview" });
  }
  return found;
}

/** The differences between the workspace now and right after the commit. */
export function conflictsSince({ workspace, steps, twins, after = [] }: Journal): Conflict[] {
  const found: Conflict[] = [];
  const expected = new Map<string, Set<string>>();
  for (const [path] of after) {
    const at = path.lastIndexOf("/");
    const parent = at < 0 ? "." : path.slice(0, at);
    expected.set(parent, (expected.get(parent) ?? new Set()).add(path.slice(at + 1)));
  }
  for (const [path, known] of after) {
    const now = entryOf(workspace, path);
    if (!now) found.push({ path, what: "is gone" });
    else if (!isUnchanged(now, known)) found.push({ path, what: "has changed since the commit" });
    else if (known.type === "directory") found.push(...unknownIn(workspace, path, expected.get(path)));
  }
  // An undo restores a dropped hard link from its other name, the twin.
  for (const { twin, ino } of twins)
    if (entryOf(workspace, twin)?.ino !== ino)
      found.push({ path: twin, what: "has changed since the commit" });
  for (const { path, incoming, outgoing } of steps)
    if (outgoing && !incoming && entryOf(workspace, path)) found.push({ path, what: "exists now" });
  return found;
}

function entryOf(workspace: string, path: string): Entry | undefined {
  return attempt(() => entryAt(path === "." ? workspace : join(workspace, path)));
}

/** Whether the parent is a directory of the workspace, or the same commit creates it. */
function isReachable(workspace: string, path: string, created: ReadonlySet<string>): boolean {
  const at = path.lastIndexOf("/");
  if (at < 0) return true;
  const parent = path.slice(0, at);
  if (created.has(parent)) return true;
  const directory = join(workspace, parent);
  return (
    attempt(() => resolvedPath(directory)) === directory && entryOf(workspace, parent)?.type === "directory"
  );
}

function changesBelow(workspace: string, path: string, tree: NonNullable<Change["tree"]>): Conflict[] {
  const known = new Map(tree);
  const found: Conflict[] = [];
  const walk = (at: string) => {
    for (const name of attempt(() => namesIn(join(workspace, path, at))) ?? []) {
      const below = at === "" ? name : `${at}/${name}`;
      const entry = known.get(below);
      const now = entryOf(workspace, `${path}/${below}`);
      known.delete(below);
      if (!entry) found.push({ path: `${path}/${below}`, what: "is new since the preview" });
      else if (!isUnchanged(now, entry))
        found.push({ path: `${path}/${below}`, what: "has changed since the preview" });
      else if (entry.type === "directory") walk(below);
    }
  };
  walk("");
  for (const [below] of known) found.push({ path: `${path}/${below}`, what: "is gone" });
  return found;
}

function unknownIn(workspace: string, path: string, expected = new Set<string>()): Conflict[] {
  const names = attempt(() => namesIn(join(workspace, path))) ?? [];
  return names
    .filter((name) => !expected.has(name))
    .map((name) => ({ path: `${path}/${name}`, what: "is new since the commit" }));
}
