// Formats the changes of a preview as lines for people and models, and as lists of paths.
import { shownPath, wirePath } from "../support/path-text.ts";
import type { Entry } from "./entry.ts";
import type { Change } from "./scan-changes.ts";
import { S_ISGID, S_ISUID } from "./setuid-bits.ts";

/** The first character of a line about a change. */
export const SIGNS = { created: "+", changed: "~", deleted: "-" } as const;

export interface ChangedPaths {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  /** A deleted directory includes everything below it. */
  readonly deleted: readonly string[];
}

/** Paths are relative to the workspace. */
export function changedPaths(changes: readonly Change[]): ChangedPaths {
  const of = (kind: Change["kind"]) =>
    changes.filter((change) => change.kind === kind).map(({ path }) => wirePath(path));
  return { created: of("created"), changed: of("changed"), deleted: of("deleted") };
}

/** `3 created (1.2 KB), 1 changed, 2 deleted (57,235 files)`. */
export function countsOf(changes: readonly Change[]): string {
  const counts = (["created", "changed", "deleted"] as const).flatMap((kind) => {
    const found = changes.filter((change) => change.kind === kind);
    if (found.length === 0) return [];
    const below = found.reduce((sum, { tree = [] }) => sum + tree.length, 0);
    const total = below === 0 ? "" : `, ${found.length + below} entries in total`;
    return [`${found.length} ${kind} (${bytesText(bytesOf(found))}${total})`];
  });
  return counts.length === 0 ? "no changes" : counts.join(", ");
}

/** One line per change: `+ src/new.ts (120 B)`. */
export function changeLines(changes: readonly Change[], maxCount = changes.length): string[] {
  const lines = changes.slice(0, maxCount).map(changeLine);
  return changes.length > maxCount ? [...lines, `… and ${changes.length - maxCount} more`] : lines;
}

function changeLine({ path, kind, before, after, tree, hasOtherAttributes = false }: Change): string {
  const name = shownPath((after ?? before)?.type === "directory" ? `${path}/` : path);
  const details = detailsOf(before, after, tree);
  const shown = hasOtherAttributes ? [...details.filter((text) => text !== TIMES), "attributes"] : details;
  return `${SIGNS[kind]} ${name} (${shown.join(", ")})`;
}

function detailsOf(before: Entry | null, after: Entry | null, tree: Change["tree"]): string[] {
  if (before && after) return [...differencesOf(before, after), ...specialModes(after)];
  const entry = after ?? before;
  if (!entry) return [];
  if (tree) return [`directory, ${tree.length} entries below, ${bytesText(treeBytes(tree))}`];
  return [kindText(entry), ...(after ? specialModes(after) : [])];
}

function differencesOf(before: Entry, after: Entry): string[] {
  const different = [
    ...(before.type === after.type ? [] : [`${before.type} becomes ${after.type}`]),
    ...(before.mode === after.mode ? [] : [`mode ${octal(before.mode)} -> ${octal(after.mode)}`]),
    ...(before.target === after.target ? [] : [`-> ${shownPath(after.target ?? "")}`]),
    ...(after.type === "file" && before.type === "file"
      ? [
          before.size === after.size
            ? bytesText(after.size)
            : `${bytesText(before.size)} -> ${bytesText(after.size)}`,
        ]
      : []),
  ];
  return different.length === 0 ? [TIMES] : different;
}

function kindText({ type, size, target }: Entry): string {
  if (type === "file") return bytesText(size);
  return type === "symlink" ? `link -> ${shownPath(target ?? "")}` : type;
}

/** Names the mode bits that let another user run the file with the rights of its owner or group. */
function specialModes({ type, mode }: Entry): string[] {
  if (type !== "file") return [];
  return [...(mode & S_ISUID ? ["setuid"] : []), ...(mode & S_ISGID ? ["setgid"] : [])];
}

function bytesOf(changes: readonly Change[]): number {
  return changes.reduce((sum, { before, after, tree }) => {
    const entry = after ?? before;
    return sum + (entry?.type === "file" ? entry.size : 0) + treeBytes(tree ?? []);
  }, 0);
}

function treeBytes(tree: NonNullable<Change["tree"]>): number {
  return tree.reduce((sum, [, entry]) => sum + (entry.type === "file" ? entry.size : 0), 0);
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

const TIMES = "times";
const UNITS = ["B", "KB", "MB", "GB", "TB"];

function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
