// Runs when a host starts: ends the commits and undos of killed hosts (recover-pending.ts).
import { attempt } from "../support/attempt.ts";
import type { PreviewStore } from "./preview-store.ts";
import { abandonedTransactions, recoverPending } from "./recover-pending.ts";
import { tryWithWorkspaceLock } from "./workspace-lock.ts";

export function recoverPreviews(store: PreviewStore): void {
  const workspaces = new Set(abandonedTransactions(store).map(({ journal }) => journal.workspace));
  for (const workspace of workspaces)
    attempt(() => tryWithWorkspaceLock(store, workspace, () => recoverPending(store, workspace)));
}
