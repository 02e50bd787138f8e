// Finds a shell again that is on disk: who runs it, and whether that can be seen from here at all.
import { readIdentity } from "../spool/identity.ts";
import type { SpoolRoot } from "../spool/layout.ts";
import { readMeta } from "../spool/meta.ts";
import type { StartedShell } from "./host.ts";
import { bootId, pidNamespace } from "./process-table.ts";

export function readStartedShell(root: SpoolRoot, id: string): StartedShell | undefined {
  const files = root.files(id);
  const meta = readMeta(files.meta);
  if (!meta || meta.id !== id) return undefined;
  const identity = readIdentity(files.identity);
  const unseen = identity ? whyUnseen(identity) : "nothing tells which process ran it";
  return {
    id,
    files,
    meta,
    shimPid: identity?.shimPid ?? 0,
    shimStart: identity?.shimStart ?? "",
    commandPid: identity?.commandPid ?? 0,
    commandStart: identity?.commandStart ?? "",
    tag: identity && identity.tag !== "-" ? BigInt(identity.tag) : undefined,
    pidBefore: 0,
    attached: true,
    ...(unseen === undefined ? {} : { unseen }),
  };
}

/** A pid means something only in the boot and the namespace it was given in. */
function whyUnseen(identity: { readonly bootId: string; readonly pidNamespace: string }): string | undefined {
  if (identity.bootId !== bootId()) return "the machine has been restarted since";
  if (identity.pidNamespace !== pidNamespace()) return "it was started in another pid namespace";
  return undefined;
}
