// Unnamed pipes, opened through a process that holds them: /proc/PID/fd/N. The kernel allows this only to a process
// that sees the holder in its /proc and may trace it. A sandboxed process is not allowed to. A fifo would be less
// safe: every process that sees the path of a fifo can open it, even on a read-only mount.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { NacreError } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";
import { isEnding, isSameProcess, type ProcessIdentity } from "./process-table.ts";

/** The job pipe in the slot's bash, and the report pipe in its shim (shim.sh). */
export const JOB_FD = 6;
export const REPORT_FD = 6;
/** The input of a terminal, in the first process of its shell. */
export const INPUT_FD = 0;

export function pipePath(pid: number, fd: number): string {
  return `/proc/${pid}/fd/${fd}`;
}

/** Never blocks. undefined if the process is gone, or its descriptor is no longer a pipe. */
export function openPipe(owner: ProcessIdentity, fd: number, mode: "write" | "both"): number | undefined {
  const flags = constants.O_NONBLOCK | (mode === "write" ? constants.O_WRONLY : constants.O_RDWR);
  let opened: number;
  try {
    opened = openSync(pipePath(owner.pid, fd), flags);
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (["ENOENT", "ESRCH", "ENXIO", "ENOTDIR"].includes(code)) return undefined;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // After a process has ended, its files in /proc belong to root.
    if (isEnding(owner.pid)) return undefined;
    throw new NacreError(
      "spawn_failed",
      `This process may not open the pipes of the shells it has started (${pipePath(owner.pid, fd)}: ${code}). Check that this user may read the bash program, and that /proc is not restricted (hidepid, AppArmor, SELinux).`,
      { cause: error },
    );
  }
  // Check the identity after opening: if it matches now, it also matched when the pipe was opened.
  if (fstatSync(opened).isFIFO() && isSameProcess(owner.pid, owner.startTime)) return opened;
  closeSync(opened);
  return undefined;
}
