// Compares the upper layer of an overlay with the workspace below it. Lists the entries that the command created,
// changed and deleted.
//
//   scanChanges
//     mergedDirectories       finds the directories in both layers
//     attributesOf            finds the directories that replace the one below (extended-attributes.ts)
//     Scan.walk               compares entry by entry
//     Scan.compareAttributes  compares the attributes, which lstat does not show
import { dirname, join } from "node:path";
import type { Planted } from "../sandbox/overlay.ts";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { PREVIEW_MAX_ENTRIES_COUNT } from "../support/limits.ts";
import { namesIn } from "../support/path-text.ts";
import { type Entry, entryAt, haveSameBytes, treeBelow, type UpperEntry } from "./entry.ts";
import { type Attributes, attributesOf } from "./extended-attributes.ts";
import { UpperLayer } from "./upper-layer.ts";

export interface Change {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  readonly before: Entry | null;
  readonly after: Entry | null;
  /** The former entries below a directory that is gone. */
  readonly tree?: readonly (readonly [string, Entry])[];
  /** True if extended attributes or access control lists differ. If this is true for a file, nothing else differs. */
  readonly hasOtherAttributes?: boolean;
  /** The unchanged path that this new hard link refers to. */
  readonly linkOf?: { readonly path: string; readonly entry: Entry };
  /** True if another program changed the entry while the command ran. */
  readonly isRaced?: boolean;
}

/** Whether the path is a directory both before and after the command. */
export function staysDirectory({ before, after }: Change): boolean {
  return before?.type === "directory" && after?.type === "directory";
}

export interface ScanPlan {
  readonly upper: string;
  readonly workspace: string;
  readonly planted: Planted | undefined;
  /** If another program changed the workspace after this time, the change is a race with the command. */
  readonly startedNs: bigint;
}

export async function scanChanges(plan: ScanPlan): Promise<Change[]> {
  const upper = new UpperLayer(plan.upper);
  const merged = mergedDirectories(upper, plan);
  const above = await attributesOf(plan.upper, merged);
  const scan = new Scan(plan, upper, above);
  scan.walk("", true);
  await scan.compareAttributes(merged);
  return scan.changes();
}

function mergedDirectories(upper: UpperLayer, { workspace }: ScanPlan): string[] {
  const found: string[] = [];
  const walk = (at: string) => {
    for (const name of upper.names(at)) {
      const path = at === "" ? name : `${at}/${name}`;
      const entry = upper.entry(path);
      if (entry === "whiteout" || entry?.type !== "directory") continue;
      if (entryAt(join(workspace, path))?.type !== "directory") continue;
      found.push(path);
      walk(path);
    }
  };
  walk("");
  return found;
}

class Scan {
  readonly #plan: ScanPlan;
  readonly #upper: UpperLayer;
  /** The attributes of directories that are in both layers. */
  readonly #above: ReadonlyMap<string, Attributes>;
  readonly #placeholders: ReadonlySet<string>;
  readonly #times: ReadonlyMap<string, string>;
  readonly #changes: Change[] = [];
  /** Files of the upper layer that equal the workspace's file at the same path, by inode number. */
  readonly #copies = new Map<string, { readonly path: string; readonly entry: Entry }>();
  /** The same files by path. */
  readonly #alike = new Map<string, { readonly before: Entry; readonly after: Entry }>();
  /** Directories with changes below them. */
  readonly #parents = new Set<string>();
  #count = 0;

  constructor(plan: ScanPlan, upper: UpperLayer, above: ReadonlyMap<string, Attributes>) {
    this.#plan = plan;
    this.#upper = upper;
    this.#above = above;
    this.#placeholders = new Set(plan.planted?.placeholders);
    this.#times = new Map(plan.planted?.times);
  }

  changes(): Change[] {
    return this.#changes
      .map((change) => {
        const { after } = change;
        const linkOf = after && after.type !== "directory" ? this.#copies.get(after.ino) : undefined;
        return linkOf ? { ...change, linkOf } : change;
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** `isBelow`: whether the workspace has a directory at this path. */
  walk(at: string, isBelow: boolean): void {
    const { workspace } = this.#plan;
    const names = this.#upper.names(at);
    for (const name of names) {
      const path = at === "" ? name : `${at}/${name}`;
      const after = this.#upper.entry(path);
      if (!after || (this.#placeholders.has(path) && !this.#isFilled(path, after))) continue;
      const before = isBelow ? (entryAt(join(workspace, path)) ?? null) : null;
      this.#compare(path, before, after);
    }
    if (isBelow && this.#isReplaced(at)) this.#addReplaced(at, new Set(names));
    if (isBelow) this.#compareDirectory(at);
  }

  /**
   * Whether a new directory replaces the one below it. Also checks the parents, because the kernel marks only the
   * outermost directory that replaces another one.
   */
  #isReplaced(at: string): boolean {
    for (let path = at; path !== "." && path !== ""; path = dirname(path))
      if (this.#above.get(path)?.isOpaque === true) return true;
    return false;
  }

  /** Adds the deleted entries of a directory that the command replaced. Skips names that are in the new directory. */
  #addReplaced(at: string, kept: ReadonlySet<string>): void {
    const { workspace } = this.#plan;
    for (const name of namesIn(join(workspace, at))) {
      const path = `${at}/${name}`;
      const before = kept.has(name) ? undefined : entryAt(join(workspace, path));
      if (before) this.#add(path, before, null);
    }
  }

  /** Compares a directory that is in both layers. Ignores its modification time if its entries have changed. */
  #compareDirectory(at: string): void {
    const path = at === "" ? "." : at;
    const [before, after] = [entryAt(join(this.#plan.workspace, at)), this.#upper.entry(at)];
    if (!before || !after || after === "whiteout") return;
    const hasOtherTime = after.mtimeNs !== before.mtimeNs && after.mtimeNs !== this.#times.get(at);
    const isChanged =
      before.mode !== after.mode ||
      before.uid !== after.uid ||
      before.gid !== after.gid ||
      (hasOtherTime && !this.#parents.has(path));
    if (isChanged) this.#add(path, before, after);
  }

  /**
   * Finds entries with other attributes. When a command sets an attribute of a file, the kernel copies the file, and
   * the copy differs from the original only in its attributes.
   */
  async compareAttributes(merged: readonly string[]): Promise<void> {
    const { upper, workspace } = this.#plan;
    const files = [...this.#alike.keys()];
    const copies = await attributesOf(upper, files);
    const below = await attributesOf(workspace, [...merged, ...files]);
    for (const path of merged) {
      const text = this.#above.get(path)?.text ?? "";
      // nacre itself created the directories above a placeholder, without attributes: the command did not change them.
      const isPlanted = text === "" && this.#times.has(path);
      if (text !== (below.get(path)?.text ?? "") && !isPlanted) this.#markAttributes(path);
    }
    for (const [path, { before, after }] of this.#alike) {
      if (copies.get(path)?.text === below.get(path)?.text) continue;
      this.#copies.delete(after.ino);
      this.#add(path, before, after, { hasOtherAttributes: true });
    }
  }

  #markAttributes(path: string): void {
    const at = this.#changes.findIndex((change) => change.path === path);
    const known = this.#changes[at];
    if (known) {
      this.#changes[at] = { ...known, hasOtherAttributes: true };
      return;
    }
    const [before, after] = [entryAt(join(this.#plan.workspace, path)), this.#upper.entry(path)];
    if (before && after && after !== "whiteout") this.#add(path, before, after, { hasOtherAttributes: true });
  }

  /** Whether the command created an entry in a directory that nacre had created. */
  #isFilled(path: string, after: UpperEntry): boolean {
    if (after === "whiteout" || after.type !== "directory") return false;
    return this.#upper.names(path).some((name) => !this.#placeholders.has(`${path}/${name}`));
  }

  #compare(path: string, before: Entry | null, after: UpperEntry): void {
    if (after === "whiteout") {
      if (before) this.#add(path, before, null);
      return;
    }
    if (after.type === "directory") {
      const isMerged = before?.type === "directory";
      if (!isMerged) this.#add(path, before, after);
      this.walk(path, isMerged);
      return;
    }
    if (before && this.#isCopy(path, before, after)) {
      this.#copies.set(after.ino, { path, entry: before });
      if (after.type === "file") this.#alike.set(path, { before, after });
      return;
    }
    this.#add(path, before, after);
  }

  /** Detects unchanged copies: the kernel copies a file even if a program only opens it for writing or links to it. */
  #isCopy(path: string, before: Entry, after: Entry): boolean {
    const isAlike =
      before.type === after.type &&
      before.mode === after.mode &&
      before.uid === after.uid &&
      before.gid === after.gid &&
      before.size === after.size &&
      before.mtimeNs === after.mtimeNs &&
      before.target === after.target;
    if (!isAlike || after.type !== "file") return isAlike;
    // Treat a file that cannot be read as changed.
    return attempt(() => haveSameBytes(this.#upper.at(path), join(this.#plan.workspace, path))) ?? false;
  }

  #add(path: string, before: Entry | null, after: Entry | null, more: Partial<Change> = {}): void {
    for (let at = dirname(path); !this.#parents.has(at); at = dirname(at)) this.#parents.add(at);
    const { workspace, startedNs } = this.#plan;
    const isLost = before?.type === "directory" && after?.type !== "directory";
    const tree = isLost ? treeBelow(join(workspace, path)) : undefined;
    this.#count += 1 + (tree?.length ?? 0);
    if (this.#count > PREVIEW_MAX_ENTRIES_COUNT) {
      throw new NacreError(
        "limit_reached",
        `The command changed more than ${PREVIEW_MAX_ENTRIES_COUNT} entries of the workspace, more than one preview can hold. The workspace is untouched, and the preview is gone. Preview a smaller part of the work.`,
      );
    }
    const known = before ? [before, ...(tree ?? []).map(([, entry]) => entry)] : [];
    const isRaced = known.some((entry) => entry.type !== "directory" && BigInt(entry.ctimeNs) > startedNs);
    this.#changes.push({
      path,
      kind: before ? (after ? "changed" : "deleted") : "created",
      before,
      after,
      ...(tree ? { tree } : {}),
      ...(isRaced ? { isRaced } : {}),
      ...more,
    });
  }
}
