// The actions on a preview. The Preview tool, kit.previews and the command line use these functions.
import { commitPreview } from "../preview/commit.ts";
import { diffOf } from "../preview/diff-text.ts";
import type { PreviewRecord } from "../preview/preview-record.ts";
import { type PreviewStore, selected } from "../preview/preview-store.ts";
import type { Change } from "../preview/scan-changes.ts";
import { lastCommitted, type Undone, undoCommit } from "../preview/undo.ts";
import type { ExecutionContext } from "../tool/context.ts";
import { admit } from "./admission.ts";
import type { ResolvedExecutionOptions } from "./execution-options.ts";

export interface PreviewCall {
  readonly context: ExecutionContext;
  readonly options: ResolvedExecutionOptions;
  /** Limits the call to the previews of this scope; undefined means all previews. */
  readonly scope: string | undefined;
}

export interface ShownPreview {
  readonly record: PreviewRecord;
  /** The changes at the requested paths that are neither committed nor discarded yet. */
  readonly changes: readonly Change[];
}

export function listPreviews({ options, scope }: PreviewCall): readonly PreviewRecord[] {
  return storeOf(options).list(filterOf(scope));
}

export function showPreview(
  id: string,
  { options, scope }: PreviewCall,
  paths?: readonly string[],
): ShownPreview {
  const store = storeOf(options);
  const record = store.get(id, filterOf(scope));
  const changes = store.changes(record);
  return { record, changes: paths ? selected(changes, paths, id) : changes };
}

export async function diffPreview(
  id: string,
  { options, scope }: PreviewCall,
  paths?: readonly string[],
): Promise<ShownPreview & { readonly text: string }> {
  const store = storeOf(options);
  const record = store.getPending(id, filterOf(scope));
  const all = store.changes(record);
  const changes = paths ? selected(all, paths, id) : all;
  return { record, changes, text: await diffOf(store, record, changes) };
}

/** Commits a preview. If its command needs approval, asks for it now. */
export async function commitAdmitted(
  id: string,
  { context, options, scope }: PreviewCall,
  paths?: readonly string[],
): Promise<ShownPreview> {
  const store = storeOf(options);
  const record = store.getPending(id, filterOf(scope));
  if (paths) selected(store.changes(record), paths, id);
  const { command, cwd, session, ask } = record;
  if (ask) {
    const asked = { ...ask, command, cwd, session, background: false, effects: [] };
    await admit(
      { command, background: false, session: null },
      { ...context, workingDir: cwd, asked },
      options,
    );
  }
  return await commitPreview(store, record, paths);
}

export function discardPreview(
  id: string,
  { options, scope }: PreviewCall,
  paths?: readonly string[],
): ShownPreview {
  const store = storeOf(options);
  const record = store.discard(store.getPending(id, filterOf(scope)), paths);
  return { record, changes: store.changes(record) };
}

/** Without an id, undoes the newest commit in the workspace of the call. */
export async function undoPreview(
  id: string | undefined,
  { context, options, scope }: PreviewCall,
): Promise<Undone> {
  const store = storeOf(options);
  if (id !== undefined) return await undoCommit(store, store.get(id, filterOf(scope)));
  const workspace = options.manager().confiner.workspaceFor(context.workingDir);
  return await undoCommit(store, lastCommitted(store, workspace, scope));
}

function storeOf(options: ResolvedExecutionOptions): PreviewStore {
  return options.manager().previews;
}

function filterOf(scope: string | undefined): { readonly scope?: string } {
  return scope === undefined ? {} : { scope };
}
