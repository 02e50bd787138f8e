// What a background shell did not take over of its session's state. Like a session's new bash, the shell writes what it
// has (inheritanceScript) into its own directory, and that is compared with what it was given.

import type { StartedShell } from "../engine/started-shell.ts";
import { scratchOf } from "../shell/scratch.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { monotonicMs } from "../support/clock.ts";
import { INHERITANCE_POLL_MS, RESTORE_CHECK_MAX_MS } from "../support/limits.ts";
import { sleep } from "../support/timing.ts";
import { INHERITED_NUMBER, isAtRisk, notInherited } from "./session-restore.ts";
import { readStateOf } from "./session-state.ts";

/** In words; "unknown" where the shell has not come to tell in time. */
export async function uninheritedBy(
  shell: ShellProcess,
  state: string,
  nonce: string,
): Promise<string[] | "unknown"> {
  // Nearly always: no need to wait for a shell that cannot fail to take it over.
  if (!isAtRisk(state, nonce)) return [];
  const dir = directoryOf(shell.started);
  const deadline = monotonicMs() + RESTORE_CHECK_MAX_MS;
  for (;;) {
    // Asked before reading: what it wrote before its end is there then.
    const { isRunning } = shell;
    const found = readStateOf(dir, INHERITED_NUMBER, nonce);
    if (found !== undefined) return notInherited(state, found, nonce);
    // How it ended says why.
    if (!isRunning) return [];
    if (monotonicMs() > deadline) return "unknown";
    await sleep(INHERITANCE_POLL_MS);
  }
}

/** A sandboxed shell can write to one place of ours. */
function directoryOf({ files, meta }: StartedShell): string {
  return meta.confinement?.driver === "bubblewrap" ? scratchOf(files.dir) : files.dir;
}
