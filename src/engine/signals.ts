// Sends signals from this process. Every function except sendSignal checks the identity first, because the kernel can
// reuse a PID.
import { systemCode } from "../support/system-error.ts";
import { isSameProcess, type ProcessIdentity, readStat } from "./process-table.ts";
import type { StartedShell } from "./started-shell.ts";

export type SignalResult = "sent" | "gone" | "denied";

export function signalProcess({ pid, startTime }: ProcessIdentity, signal: NodeJS.Signals): SignalResult {
  return isSameProcess(pid, startTime) ? sendSignal(pid, signal) : "gone";
}

/** Continues a shim that the command has stopped: otherwise it would never record the end. */
export function continueShim({ shimPid, shimStart }: Pick<StartedShell, "shimPid" | "shimStart">): void {
  signalProcess({ pid: shimPid, startTime: shimStart }, "SIGCONT");
}

export function signalGroup(
  { commandPid, commandStart }: Pick<StartedShell, "commandPid" | "commandStart">,
  signal: NodeJS.Signals,
): SignalResult {
  // Signal the group only while the process that nacre started is its leader: after that, another group can have the
  // same ID.
  const stat = readStat(commandPid);
  if (stat?.startTime !== commandStart || stat.group !== commandPid) return "gone";
  return sendSignal(-commandPid, signal);
}

/** Whether the kernel forbids this user to signal the process. */
export function mayNotSignal(pid: number): boolean {
  return sendSignal(pid, 0) === "denied";
}

/** No identity check: the caller has just read the identity of this PID. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): SignalResult {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return systemCode(error) === "EPERM" ? "denied" : "gone";
  }
}
