// Pipes without a name, opened through the process that has them: /proc/PID/fd/N. Only a process that sees that one in
// its /proc, and may trace it, can do so: none in a sandbox. A fifo could be opened by every process that sees its
// path, even on a read-only mount.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { NacreError } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";
import { isEnding, isSameProcess, type ProcessIdentity } from "./process-table.ts";

/** What engine/shim.sh gives a slot and keeps for itself. */
export const JOB_FD = 6;
export const REPORT_FD = 6;

export function pipePath(pid: number, fd: number): string {
  return `/proc/${pid}/fd/${fd}`;
}

/** Never blocks. undefined where the process is gone, or has no pipe as that descriptor any more. */
export function openPipe(owner: ProcessIdentity, fd: number, mode: "write" | "both"): number | undefined {
  const flags = constants.O_NONBLOCK | (mode === "write" ? constants.O_WRONLY : constants.O_RDWR);
  let opened: number;
  try {
    opened = openSync(pipePath(owner.pid, fd), flags);
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (["ENOENT", "ESRCH", "ENXIO", "ENOTDIR"].includes(code)) return undefined;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // The kernel gives what it keeps of an ended process to root.
    if (isEnding(owner.pid)) return undefined;
    throw new NacreError(
      "spawn_failed",
      `This process may not open the pipes of the shells it has started (${pipePath(owner.pid, fd)}: ${code}). Is bash readable for this user, and is /proc restricted (hidepid, AppArmor, SELinux)?`,
      { cause: error },
    );
  }
  // Looked at afterwards: if it is that process now, it was when the pipe was opened.
  if (fstatSync(opened).isFIFO() && isSameProcess(owner.pid, owner.startTime)) return opened;
  closeSync(opened);
  return undefined;
}
