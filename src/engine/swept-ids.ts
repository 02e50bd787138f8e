// The ids of shells whose files were removed, one per line in a file of the state root. From this file, later processes
// can distinguish a removed shell from one that never existed. An append needs no lock. The file is bounded: when it
// has twice the wanted number of ids, its newer half replaces it. An id that another process appends at that moment is
// lost, and its shell is then reported as not found.
import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { REMOVED_SHELL_IDS_MAX_COUNT } from "../support/limits.ts";
import { NEW_SUFFIX, ROOT_NAMES, type StateRoot } from "./state-dir.ts";
import { isShellId, newShellId } from "./state-ids.ts";

/** Ignores a failure, because a full disk must not prevent the removal of a shell. */
export function recordSwept(root: StateRoot, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const path = pathOf(root);
  attempt(() => {
    appendFileSync(path, `${ids.join("\n")}\n`, { mode: 0o600 });
    const line = newShellId().length + 1;
    if (statSync(path).size <= 2 * REMOVED_SHELL_IDS_MAX_COUNT * line) return;
    const kept = readIds(root).slice(-REMOVED_SHELL_IDS_MAX_COUNT);
    const fresh = `${path}.${process.pid}${NEW_SUFFIX}`;
    writeFileSync(fresh, `${kept.join("\n")}\n`, { mode: 0o600 });
    renameSync(fresh, path);
  });
}

/** The id of a removed shell that begins with this prefix; undefined if there is none. */
export function findSwept(root: StateRoot, idOrPrefix: string): string | undefined {
  if (idOrPrefix === "") return undefined;
  return readIds(root).findLast((id) => id.startsWith(idOrPrefix) || id.startsWith(`shell_${idOrPrefix}`));
}

function readIds(root: StateRoot): string[] {
  const text = attempt(() => readFileSync(pathOf(root), "latin1")) ?? "";
  return text.split("\n").filter(isShellId);
}

function pathOf(root: StateRoot): string {
  return join(root.path, ROOT_NAMES.swept);
}
