// Plans a commit: the steps of its transaction, from the changes of a preview. Creates the directories and links that
// enter the workspace in the directory of the commit.
import { linkSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PREVIEW_NAMES } from "../engine/state-dir.ts";
import { NacreError } from "../support/errors.ts";
import { HeldDirectory } from "../support/held-directory.ts";
import { fsPath, shownPath } from "../support/path-text.ts";
import { entryAt } from "./entry.ts";
import type { Change } from "./scan-changes.ts";
import { STAGED_TREE } from "./stage-entries.ts";
import type { Step } from "./transaction.ts";

const OWNER_MAY_CHANGE = 0o300;

/** The steps, and the directories whose modification times they change. */
export interface CommitSteps {
  readonly steps: readonly Step[];
  readonly directories: readonly string[];
}

/** The changes are in the order of their paths, so that a directory comes before its entries. */
export function commitSteps(commitDir: string, workspace: string, changes: readonly Change[]): CommitSteps {
  const incomingDir = join(commitDir, PREVIEW_NAMES.incoming);
  mkdirSync(join(commitDir, PREVIEW_NAMES.outgoing), { recursive: true, mode: 0o700 });
  const opening = new OpenedDirectories(workspace);
  const moves: Step[] = [];
  const modes: { readonly path: string; readonly before: number; readonly to: number }[] = [];
  for (const [index, change] of changes.entries()) {
    const { path, before, after } = change;
    if (before?.type === "directory" && after?.type === "directory") {
      modes.unshift({ path, before: before.mode, to: after.mode });
      continue;
    }
    opening.open(dirname(path));
    if (before?.type === "directory") opening.open(path);
    const outgoing = before && {
      at: `${PREVIEW_NAMES.outgoing}/${index}`,
      entry: { ...before, mode: opening.modeOf(path, before.mode) },
    };
    if (after?.type === "directory") {
      mkdirSync(join(incomingDir, `d${index}`), { mode: 0o700 });
      opening.created(path);
      modes.unshift({ path, before: 0o700, to: after.mode });
    }
    const at = after && stagedPath(commitDir, workspace, change, index);
    const staged = at == null ? undefined : entryAt(join(commitDir, at));
    if (at != null && !staged) throw missing(path);
    moves.push({
      path,
      ...(outgoing ? { outgoing } : {}),
      ...(at != null && staged
        ? { incoming: { at, ino: staged.ino, isDirectory: staged.type === "directory" } }
        : {}),
    });
  }
  const finalModes = modes
    .map(({ path, before, to }) => ({ path, mode: { from: opening.modeOf(path, before), to } }))
    .filter(({ mode }) => mode.from !== mode.to);
  const steps = [...opening.steps, ...moves, ...finalModes, ...opening.closingSteps(changes)];
  return { steps, directories: changes.map(({ path }) => dirname(path)) };
}

/** Where the new entry waits, relative to the directory of the commit. */
function stagedPath(
  commitDir: string,
  workspace: string,
  { path, after, linkOf }: Change,
  index: number,
): string {
  if (after?.type === "directory") return `${PREVIEW_NAMES.incoming}/d${index}`;
  if (!linkOf) return `${STAGED_TREE}/${path}`;
  const at = `${PREVIEW_NAMES.incoming}/l${index}`;
  const directory = HeldDirectory.open(join(workspace, dirname(linkOf.path)));
  if (!directory) throw missing(linkOf.path);
  try {
    linkSync(directory.at(basename(linkOf.path)), fsPath(join(commitDir, at)));
    return at;
  } finally {
    directory.close();
  }
}

function missing(path: string): NacreError {
  return new NacreError(
    "internal",
    `The new content of ${shownPath(path)} could not be copied. Nothing was written.`,
  );
}

/** Directories whose owner may not change them: opened before the other steps, and closed after them. */
class OpenedDirectories {
  readonly steps: Step[] = [];
  readonly #workspace: string;
  readonly #known = new Map<string, number>();

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  created(path: string): void {
    this.#known.set(path, 0o700);
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

  /** A directory that a change gives another mode is not closed here, and neither is one that is moved away. */
  closingSteps(changes: readonly Change[]): Step[] {
    const decided = new Set(
      changes.filter(({ before }) => before?.type === "directory").map(({ path }) => path),
    );
    return this.steps.flatMap(({ path, mode }) =>
      mode && !decided.has(path) ? [{ path, mode: { from: mode.to, to: mode.from } }] : [],
    );
  }
}
