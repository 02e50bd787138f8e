// The proof of a kill: every process that got a signal, and every survivor with the reason.
import { isSameProcess, isStopped, type ProcessRef } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";

export interface Survivor {
  readonly pid: number;
  readonly command: string;
  readonly reason: string;
}

export interface KillReport {
  /** Every process that got a signal. */
  readonly signalled: readonly { readonly pid: number; readonly command: string }[];
  /**
   * Processes that could not be ended, and why. If this is empty and `unverified` is not set, a scan found no process.
   */
  readonly survivors: readonly Survivor[];
  /** The deadline passed before the last scan was complete. The kill continues in the background. */
  readonly unverified?: true;
}

/** The state of one shell after its kill. */
export interface KilledShell {
  readonly shell: StartedShell;
  /** The result of the last scan. */
  readonly remaining: readonly ProcessRef[];
  readonly isDenied: (process: ProcessRef) => boolean;
  readonly hasEnded: boolean;
  /** A process that forked faster than the scans could follow. */
  readonly outrunning: ProcessRef | undefined;
}

/** "denied only": a process that got only TERM is not a survivor, unless the signal could not be sent. */
export function survivorsOf(killed: KilledShell, which: "all" | "denied only"): Survivor[] {
  const { remaining, isDenied, outrunning } = killed;
  const alive = remaining.filter(
    (process) => (which === "all" || isDenied(process)) && isSameProcess(process.pid, process.startTime),
  );
  const survivors = alive.map((process) => ({
    pid: process.pid,
    command: process.command,
    reason: isDenied(process) ? DENIED : NOT_ENDED,
  }));
  if (which === "denied only") return survivors;
  if (outrunning) survivors.push({ pid: outrunning.pid, command: outrunning.command, reason: KEEPS_FORKING });
  return survivors.length === 0 ? shimOf(killed) : survivors;
}

/** If all processes have ended but the shell has not, the shim is the survivor. */
function shimOf({ shell, hasEnded }: KilledShell): Survivor[] {
  if (hasEnded || shell.unseen !== undefined) return [];
  if (!isSameProcess(shell.shimPid, shell.shimStart)) return [];
  const reason = isStopped(shell.shimPid) ? SHIM_STOPPED : SHIM_NOT_DONE;
  return [{ pid: shell.shimPid, command: "nacre-shim", reason }];
}

const DENIED = "it belongs to another user and this process may not signal it (EPERM)";
const NOT_ENDED = "it did not end after SIGKILL; it may be waiting in the kernel (uninterruptible sleep)";
const KEEPS_FORKING =
  "it forks faster than it can be killed; nacre keeps killing it in the background. Check again with BashOutput or nacre ps";
const SHIM_STOPPED =
  "everything the command started has ended, but its shim, which records the end, is stopped and cannot be continued. Send it SIGCONT";
const SHIM_NOT_DONE =
  "everything the command started has ended, but its shim has not recorded the end yet. Check again in a moment";
