// Runs when a host starts: rolls back or completes the commits and undos of killed hosts (recover-pending.ts).

import type { StateRoot } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";
import { PreviewStore } from "./preview-store.ts";
import { abandonedTransactions, recoverPending } from "./recover-pending.ts";
import { tryWithWorkspaceLock } from "./workspace-lock.ts";

/** Opens the store and recovers: a host that was killed during a commit leaves the workspace half changed. */
export function openPreviews(root: StateRoot): PreviewStore {
  const store = new PreviewStore(root);
  const workspaces = new Set(abandonedTransactions(store).map(({ journal }) => journal.workspace));
  for (const workspace of workspaces)
    attempt(() => tryWithWorkspaceLock(store, workspace, () => recoverPending(store, workspace)));
  return store;
}
