// Plans a commit: derives the steps of its transaction from the changes of a preview and the staged tree
// (stage-entries.ts).
//
//   a new or changed file         moves in; the entry that it replaces moves out
//   a new directory               moves in with everything below it
//   a directory that stays        gets its new mode, and its new time at the end
//   ... with other attributes     is replaced by a new directory, and its entries move there, because not every system
//                                 has a tool that can remove an attribute
import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { fsPath, namesIn } from "../support/path-text.ts";
import type { DirectoryTimes } from "./directory-times.ts";
import { type Entry, entryAt, upperEntryAt } from "./entry.ts";
import { type Twin, twinsAmong } from "./hard-link-twins.ts";
import type { Step } from "./journal.ts";
import { type Change, staysDirectory } from "./scan-changes.ts";
import { missingContent, STAGED_TREE, stagedDirectory } from "./stage-entries.ts";

const OWNER_MAY_CHANGE = 0o300;

/** The steps, and the directories whose modification times they change. */
export interface CommitSteps {
  readonly steps: readonly Step[];
  readonly directories: readonly string[];
  /** The paths with a new entry in the workspace after the commit. */
  readonly entered: readonly string[];
  readonly twins: readonly Twin[];
}

export interface CommitPlan {
  readonly commitDir: string;
  readonly workspace: string;
  /** In the order of their paths, so that a directory comes before its entries. */
  readonly changes: readonly Change[];
  /** Paths and inode numbers of the files that had several names before the preview. */
  readonly linked: readonly (readonly [string, string])[];
}

export function commitSteps({ commitDir, workspace, changes, linked }: CommitPlan): CommitSteps {
  return new StepPlanner(commitDir, workspace).plan(changes, linked);
}

class StepPlanner {
  readonly #commitDir: string;
  readonly #workspace: string;
  readonly #opening: OpenedDirectories;
  readonly #moves: Step[] = [];
  /** The destination of each entry that leaves the workspace, by path. */
  readonly #outgoing = new Map<string, string>();
  /** The final modes of directories, innermost first. */
  readonly #modes: { readonly path: string; readonly before: number; readonly to: number }[] = [];

  constructor(commitDir: string, workspace: string) {
    this.#commitDir = commitDir;
    this.#workspace = workspace;
    this.#opening = new OpenedDirectories(workspace);
  }

  plan(changes: readonly Change[], linked: CommitPlan["linked"]): CommitSteps {
    const created = new Set<string>();
    for (const [index, change] of changes.entries()) {
      if (staysDirectory(change)) this.#change(change, index);
      else if (!hasParentIn(created, change.path)) this.#move(change, index);
      if (change.after?.type === "directory" && !staysDirectory(change)) created.add(change.path);
    }
    const modes = this.#modes
      .map(({ path, before, to }) => ({ path, mode: { from: this.#opening.modeOf(path, before), to } }))
      .filter(({ mode }) => mode.from !== mode.to);
    return {
      steps: [...this.#opening.steps, ...this.#moves, ...modes, ...this.#opening.closingSteps(changes)],
      directories: changes.flatMap((change) => [
        ...(staysDirectory(change) ? [change.path] : []),
        ...parentsOf(change.path),
      ]),
      twins: twinsAmong(changes, linked, ({ path }) => this.#outgoing.get(path)),
      entered: changes.filter((change) => change.after && !staysDirectory(change)).map(({ path }) => path),
    };
  }

  #change({ path, before, after, hasOtherAttributes }: Change, index: number): void {
    if (!before || !after) return;
    if (hasOtherAttributes === true) this.#replace(path, before, index);
    this.#modes.unshift({ path, before: before.mode, to: after.mode });
  }

  #replace(path: string, before: Entry, index: number): void {
    const out = `${PREVIEW_NAMES.outgoing}/${index}`;
    this.#opening.open(dirname(path));
    this.#opening.open(path);
    const mode = this.#opening.modeOf(path, before.mode);
    const at = stagedDirectory(path, index);
    this.#moves.push({
      path,
      outgoing: { at: out, entry: { ...before, mode } },
      incoming: this.#incoming(path, at, mode),
    });
    for (const name of attempt(() => namesIn(join(this.#workspace, path))) ?? []) {
      this.#opening.open(`${path}/${name}`);
      this.#moves.push({ path: `${path}/${name}`, relocated: { at: `${out}/${name}`, to: "workspace" } });
    }
  }

  #move({ path, before, after }: Change, index: number): void {
    this.#opening.open(dirname(path));
    if (before?.type === "directory") this.#opening.open(path);
    const outgoing = before && {
      at: `${PREVIEW_NAMES.outgoing}/${index}`,
      entry: { ...before, mode: this.#opening.modeOf(path, before.mode) },
    };
    if (outgoing) this.#outgoing.set(path, outgoing.at);
    const incoming = after && this.#incoming(path, `${STAGED_TREE}/${path}`);
    if (incoming?.isDirectory === true && after && !mayMove(after)) {
      chmodSync(fsPath(join(this.#commitDir, incoming.at)), after.mode | 0o700);
      this.#modes.unshift({ path, before: after.mode | 0o700, to: after.mode });
    }
    this.#moves.push({ path, ...(outgoing ? { outgoing } : {}), ...(incoming ? { incoming } : {}) });
  }

  #incoming(path: string, at: string, mode?: number): NonNullable<Step["incoming"]> {
    const full = join(this.#commitDir, at);
    const staged = entryAt(full);
    if (!staged) throw missingContent(path);
    if (mode !== undefined) chmodSync(fsPath(full), mode);
    return { at, ino: staged.ino, isDirectory: staged.type === "directory" };
  }
}

/** A directory moves to another parent only if its owner may write to it. */
function mayMove({ mode }: Entry): boolean {
  return process.getuid?.() === 0 || (mode & OWNER_MAY_CHANGE) === OWNER_MAY_CHANGE;
}

function hasParentIn(created: ReadonlySet<string>, path: string): boolean {
  return parentsOf(path).some((parent) => created.has(parent));
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === "." ? ["."] : [parent, ...parentsOf(parent)];
}

/** The modification times of the directories after the commit: the times that the command left. */
export function timesAfter(
  upper: string,
  times: DirectoryTimes,
  planted: readonly (readonly [string, string])[],
): DirectoryTimes {
  const known = new Map(planted);
  return times.map(([path, ns]) => {
    const at = path === "." ? "" : path;
    const entry = attempt(() => upperEntryAt(join(upper, at)));
    // If nacre created the directory in the upper layer and the command did not change it, the directory keeps its old
    // time.
    const isAsBefore = !entry || entry === "whiteout" || entry.mtimeNs === known.get(at);
    return [path, isAsBefore ? ns : entry.mtimeNs];
  });
}

/** Adds steps for read-only directories: a first step makes a directory writable, and a last step restores its mode. */
class OpenedDirectories {
  readonly steps: Step[] = [];
  readonly #workspace: string;
  readonly #known = new Map<string, number>();

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  open(path: string): void {
    if (this.#known.has(path) || process.getuid?.() === 0) return;
    const entry = entryAt(path === "." ? this.#workspace : join(this.#workspace, path));
    if (entry?.type !== "directory") return;
    const isOpen = (entry.mode & OWNER_MAY_CHANGE) === OWNER_MAY_CHANGE;
    const to = isOpen ? entry.mode : entry.mode | 0o700;
    this.#known.set(path, to);
    if (!isOpen) this.steps.push({ path, mode: { from: entry.mode, to } });
  }

  modeOf(path: string, mode: number): number {
    return this.#known.get(path) ?? mode;
  }

  /** The steps that restore the modes. Skips directories that a change moves away or gives another mode. */
  closingSteps(changes: readonly Change[]): Step[] {
    const decided = new Set(
      changes.filter(({ before }) => before?.type === "directory").map(({ path }) => path),
    );
    return this.steps.flatMap(({ path, mode }) =>
      mode && !decided.has(path) ? [{ path, mode: { from: mode.to, to: mode.from } }] : [],
    );
  }
}
