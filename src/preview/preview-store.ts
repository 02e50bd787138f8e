// All previews of a state root: creates them, finds them, and records the status of each. Owns `previews/`.
//
//   create          a directory with the layers of an overlay; the command then runs in it
//   conclude        lists the changes of the command (scan-changes.ts)
//   commit, undo    commit.ts, undo.ts
//   discard         removes the layers; the record stays, so that the id is still known
//   recover         rolls back or completes the commits and undos of killed hosts (recover.ts)
import { lstatSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { thisProcess } from "../engine/process-table.ts";
import { PREVIEW_NAMES, ROOT_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { isPreviewId, newPreviewId } from "../engine/state-ids.ts";
import { makeLayers } from "../sandbox/overlay.ts";
import { attempt } from "../support/attempt.ts";
import { wallMs } from "../support/clock.ts";
import { NacreError } from "../support/errors.ts";
import { PREVIEW_IDS_SHOWN_MAX_COUNT } from "../support/limits.ts";
import { makeDirs } from "../support/make-dirs.ts";
import { removeTree } from "../support/remove-tree.ts";
import {
  type PreviewRecord,
  type PreviewStatus,
  readChanges,
  readPlanted,
  readPreview,
  writeChanges,
  writePreview,
} from "./preview-record.ts";
import { type Change, scanChanges } from "./scan-changes.ts";
import { withoutSetuidBits } from "./setuid-bits.ts";

export type PreviewRequest = Pick<
  PreviewRecord,
  "command" | "workspace" | "cwd" | "scope" | "session" | "ask"
>;

export interface PreviewEnd {
  readonly exitCode: number | null;
  readonly notCaptured: readonly string[];
  /** Files that nacre copied with all their hard links (hard-links.ts): the number of names, by inode number. */
  readonly linked: ReadonlyMap<string, number>;
}

export class PreviewStore {
  /** The directory of all previews. */
  readonly dir: string;
  readonly #root: StateRoot;

  constructor(root: StateRoot) {
    this.#root = root;
    this.dir = join(root.path, ROOT_NAMES.previews);
  }

  dirOf(id: string): string {
    return join(this.dir, id);
  }

  /** Creates the directory of all previews. */
  ensure(): void {
    this.#root.ensure();
    makeDirs(this.dir);
  }

  create(request: PreviewRequest): PreviewRecord {
    this.ensure();
    const id = newPreviewId();
    const dir = this.dirOf(id);
    makeDirs(dir);
    const now = wallMs();
    const record: PreviewRecord = {
      version: 1,
      id,
      ...request,
      host: thisProcess(),
      createdAt: now,
      status: "running",
      statusAt: now,
      exitCode: null,
      notCaptured: [],
      commits: 0,
    };
    writePreview(dir, record);
    makeLayers({ dir, workspace: request.workspace });
    return record;
  }

  /**
   * Call this right before the command starts. Other programs' changes to the workspace after this moment count as
   * races.
   */
  markStart(id: string): void {
    writeFileSync(join(this.dirOf(id), START_MARK), "");
  }

  /** Lists the changes. Call this when no process of the command is left. */
  async conclude(
    record: PreviewRecord,
    end: PreviewEnd,
  ): Promise<{ readonly record: PreviewRecord; readonly changes: readonly Change[] }> {
    const dir = this.dirOf(record.id);
    const upper = join(dir, PREVIEW_NAMES.upper);
    const scanned = await scanChanges({
      upper,
      workspace: record.workspace,
      planted: readPlanted(dir),
      startedNs: attempt(() => lstatSync(join(dir, START_MARK), { bigint: true }).ctimeNs) ?? 0n,
    });
    const { changes, cleaned } = withoutSetuidBits(upper, scanned);
    removeTree(join(dir, PREVIEW_NAMES.work));
    writeChanges(dir, changes);
    const notCaptured = [
      ...end.notCaptured,
      ...cleaned.map((path) => `${path}: its setuid bit; a commit leaves it out`),
      ...changes.flatMap((change) => uncommittable(change, end.linked)),
    ];
    return { record: this.update(record, "pending", { exitCode: end.exitCode, notCaptured }), changes };
  }

  changes(record: PreviewRecord): readonly Change[] {
    return readChanges(this.dirOf(record.id));
  }

  /** The previews, oldest first. */
  list({ scope, workspace }: { readonly scope?: string; readonly workspace?: string } = {}): PreviewRecord[] {
    const names = attempt(() => readdirSync(this.dir)) ?? [];
    return names
      .filter(isPreviewId)
      .flatMap((id) => readPreview(this.dirOf(id)) ?? [])
      .filter((record) => scope === undefined || record.scope === scope)
      .filter((record) => workspace === undefined || record.workspace === workspace)
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  /** Throws if there is no such preview, or if only its record is left. */
  get(id: string, { scope }: { readonly scope?: string } = {}): PreviewRecord {
    const record = isPreviewId(id) ? readPreview(this.dirOf(id)) : undefined;
    if (!record || (scope !== undefined && record.scope !== scope)) throw this.#unknown(id, scope);
    if (record.status !== "swept") return record;
    throw new NacreError(
      "swept",
      `Preview ${id} is gone: nacre removed its files because they were too old or too large, or because its host was killed. Preview the command again: ${record.command}`,
    );
  }

  /** Returns a preview that can be committed or discarded. Throws for any other status. */
  getPending(id: string, filter: { readonly scope?: string } = {}): PreviewRecord {
    const record = this.get(id, filter);
    if (record.status === "pending") return record;
    const at = new Date(record.statusAt).toISOString();
    const advice = {
      running: "Its command still runs: wait for its end.",
      committed: `It was committed at ${at}. To take that back, use nacre undo ${id}.`,
      discarded: `It was discarded at ${at}. Preview the command again.`,
      undone: `Its commit was undone at ${at}. Preview the command again.`,
      swept: "",
    }[record.status];
    throw new NacreError("invalid_input", `Preview ${id} has no pending changes. ${advice}`);
  }

  update(record: PreviewRecord, status: PreviewStatus, more: Partial<PreviewRecord> = {}): PreviewRecord {
    const changed = { ...record, ...more, status, statusAt: wallMs() };
    writePreview(this.dirOf(record.id), changed);
    return changed;
  }

  /** Without `paths`, discards everything. Returns the updated record. */
  discard(record: PreviewRecord, paths?: readonly string[]): PreviewRecord {
    const dir = this.dirOf(record.id);
    const all = readChanges(dir);
    const gone = new Set(paths ? selected(all, paths, record.id) : all);
    const rest = all.filter((change) => !gone.has(change));
    if (paths && rest.length > 0) {
      writeChanges(dir, rest);
      return record;
    }
    const discarded = this.update(record, "discarded");
    this.removeLayers(record.id);
    return discarded;
  }

  /** Removes the preview of a command that did not run. */
  remove(id: string): void {
    removeTree(this.dirOf(id));
  }

  removeLayers(id: string): void {
    const dir = this.dirOf(id);
    for (const name of [PREVIEW_NAMES.upper, PREVIEW_NAMES.work, PREVIEW_NAMES.lower, PREVIEW_NAMES.changes])
      removeTree(join(dir, name));
  }

  /** Removes everything except the record. */
  sweep(record: PreviewRecord): void {
    this.update(record, "swept");
    const dir = this.dirOf(record.id);
    for (const name of attempt(() => readdirSync(dir)) ?? [])
      if (name !== PREVIEW_NAMES.record) removeTree(join(dir, name));
  }

  #unknown(id: string, scope: string | undefined): NacreError {
    const known = this.list(scope === undefined ? {} : { scope }).slice(-PREVIEW_IDS_SHOWN_MAX_COUNT);
    const list = known.map((one) => `${one.id} (${one.status}): ${one.command.split("\n", 1)[0]}`);
    const hint = list.length === 0 ? "There are none." : `There are:\n${list.join("\n")}`;
    return new NacreError("invalid_input", `There is no preview ${JSON.stringify(id)}. ${hint}`);
  }
}

const START_MARK = "started";

/** The changes at these paths and below them. Throws for a path without changes. */
export function selected(changes: readonly Change[], paths: readonly string[], id: string): Change[] {
  const chosen = new Set<Change>();
  for (const given of paths) {
    const path = given.replace(/^(?:\.\/+)+/, "").replace(/\/+$/, "");
    const found = changes.filter(
      (change) => path === "" || change.path === path || change.path.startsWith(`${path}/`),
    );
    if (found.length === 0) {
      throw new NacreError(
        "invalid_input",
        `Preview ${id} has no change at ${JSON.stringify(given)}. Paths are relative to the workspace; nacre preview show ${id} lists them.`,
      );
    }
    for (const change of found) chosen.add(change);
  }
  return changes.filter((change) => chosen.has(change));
}

/** A note if a commit cannot reproduce the entry as the command left it. */
function uncommittable({ path, before, after }: Change, linked: PreviewEnd["linked"]): string[] {
  if (after?.type === "device") return [`${path}: a device; a commit leaves it out`];
  if (before?.type === "file" && after && before.links > (linked.get(before.ino) ?? 1))
    return [
      `${path}: has ${before.links} hard links that the preview could not keep together (names outside the workspace, or too many or too large to copy); the preview changed, and a commit replaces, only the names listed here`,
    ];
  return [];
}
