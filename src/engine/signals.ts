// Signals from this process, to those only that are meant: a pid may be somebody else's by now.
import { systemCode } from "../support/system-error.ts";
import type { ProcessRef, SignalResult, StartedShell } from "./host.ts";
import { isSameProcess, readStat } from "./process-table.ts";

export function signalProcess(
  { pid, startTime }: Pick<ProcessRef, "pid" | "startTime">,
  signal: NodeJS.Signals,
): SignalResult {
  return isSameProcess(pid, startTime) ? sendSignal(pid, signal) : "gone";
}

export function signalGroup(
  { commandPid, commandStart }: Pick<StartedShell, "commandPid" | "commandStart">,
  signal: NodeJS.Signals,
): SignalResult {
  // Only while its leader is the one we started: after that its number may be somebody else's.
  const stat = readStat(commandPid);
  if (stat?.startTime !== commandStart || stat.group !== commandPid) return "gone";
  return sendSignal(-commandPid, signal);
}

/** Whether this user is not allowed to signal it. */
export function mayNotSignal({ pid }: Pick<ProcessRef, "pid">): boolean {
  return sendSignal(pid, 0) === "denied";
}

/** Without a check of its own: for a pid whose identity the caller has read just now. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): SignalResult {
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return systemCode(error) === "EPERM" ? "denied" : "gone";
  }
}
