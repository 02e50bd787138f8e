// Compares the upper layer of an overlay with the workspace below it: what the command created, changed and deleted.
//
//   scanChanges
//     mergedDirectories   directories in both layers
//     opaqueAmong         those that replace the one below (opaque-directories.ts)
//     Scan.walk           compares entry by entry, in the order of their paths
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { NacreError } from "../support/errors.ts";
import { PREVIEW_MAX_ENTRIES_COUNT } from "../support/limits.ts";
import { namesIn } from "../support/path-text.ts";
import { type Entry, entryAt, haveSameBytes, treeBelow, type UpperEntry } from "./entry.ts";
import { opaqueAmong } from "./opaque-directories.ts";
import { UpperLayer } from "./upper-layer.ts";

export interface Change {
  /** Relative to the workspace. */
  readonly path: string;
  readonly kind: "created" | "changed" | "deleted";
  readonly before: Entry | null;
  readonly after: Entry | null;
  /** What was below a directory that is gone. */
  readonly tree?: readonly (readonly [string, Entry])[];
  /** The unchanged path of which this is a new hard link. */
  readonly linkOf?: { readonly path: string; readonly entry: Entry };
  /** True if another program changed the entry while the command ran. */
  readonly isRaced?: boolean;
}

export interface ScanPlan {
  readonly upper: string;
  readonly workspace: string;
  /** Paths that nacre created in the upper layer. */
  readonly planted: ReadonlySet<string>;
  /** A change of the workspace after this time is a race. */
  readonly startedNs: bigint;
}

export async function scanChanges(plan: ScanPlan): Promise<Change[]> {
  const upper = new UpperLayer(plan.upper);
  const scan = new Scan(plan, upper, await opaqueAmong(plan.upper, mergedDirectories(upper, plan)));
  scan.walk("", true);
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
  readonly #opaque: ReadonlySet<string>;
  readonly #changes: Change[] = [];
  /** Files of the upper layer that are equal to the one below, by inode. */
  readonly #copies = new Map<string, { readonly path: string; readonly entry: Entry }>();
  #count = 0;

  constructor(plan: ScanPlan, upper: UpperLayer, opaque: ReadonlySet<string>) {
    this.#plan = plan;
    this.#upper = upper;
    this.#opaque = opaque;
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
    const { workspace, planted } = this.#plan;
    if (at === "") this.#compareRoot();
    const names = this.#upper.names(at);
    for (const name of names) {
      const path = at === "" ? name : `${at}/${name}`;
      const after = this.#upper.entry(path);
      if (!after || (planted.has(path) && !this.#isFilled(path, after))) continue;
      const before = isBelow ? (entryAt(join(workspace, path)) ?? null) : null;
      this.#compare(path, before, after);
    }
    if (!isBelow || !this.#opaque.has(at)) return;
    const kept = new Set(names);
    for (const name of namesIn(join(workspace, at))) {
      const path = at === "" ? name : `${at}/${name}`;
      const before = kept.has(name) ? undefined : entryAt(join(workspace, path));
      if (before) this.#add(path, before, null);
    }
  }

  #compareRoot(): void {
    const [before, after] = [entryAt(this.#plan.workspace), this.#upper.entry("")];
    if (before && after && after !== "whiteout" && before.mode !== after.mode) this.#add(".", before, after);
  }

  /** Whether the command has put something into a directory that nacre created. */
  #isFilled(path: string, after: UpperEntry): boolean {
    const { planted } = this.#plan;
    if (after === "whiteout" || after.type !== "directory") return false;
    return this.#upper.names(path).some((name) => !planted.has(`${path}/${name}`));
  }

  #compare(path: string, before: Entry | null, after: UpperEntry): void {
    if (after === "whiteout") {
      if (before) this.#add(path, before, null);
      return;
    }
    if (after.type === "directory") {
      const isMerged = before?.type === "directory";
      if (!isMerged || before.mode !== after.mode || before.uid !== after.uid || before.gid !== after.gid)
        this.#add(path, before, after);
      this.walk(path, isMerged);
      return;
    }
    if (before && this.#isCopy(path, before, after)) {
      this.#copies.set(after.ino, { path, entry: before });
      return;
    }
    this.#add(path, before, after);
  }

  /** The kernel also copies a file that a program only opens for writing, or links to. */
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
    // A file that cannot be read counts as changed.
    return attempt(() => haveSameBytes(this.#upper.at(path), join(this.#plan.workspace, path))) ?? false;
  }

  #add(path: string, before: Entry | null, after: Entry | null): void {
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
    });
  }
}
