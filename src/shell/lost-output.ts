// Remarks about output that is not on disk: what happened, and what to do. For shells and for commands of sessions.
import type { StreamName } from "./follow-output.ts";

/** `dir`: the directory of the output files. */
export function spoolFullRemark(dir: string): string {
  return `spool full: the disk had no space left for the output; the exit code is right, output is missing. The output goes to ${dir}: free space on that disk or in the quota of this user (ENOSPC, EDQUOT), or set NACRE_HOME to a directory on another disk. Output is kept again as soon as there is space.`;
}

/** For a shell whose loggers were ended by a signal. */
export const LOGGER_KILLED =
  "logger lost: the process that stores the output was killed, by another process or by the kernel; output is missing, the exit code is right";

/** For loggers that ended early, although the disk now has space. */
export function loggerGoneRemark(streams: readonly StreamName[]): string {
  return `logger lost: the process that stores ${streams.join(" and ")} ended before the command did; output is missing, the exit code is right. Another process ended it, or the disk was full for a moment.`;
}

export function capRemark(capBytes: number, stream: StreamName): string {
  return `output cap reached: only the first ${capBytes} bytes of ${stream} are kept`;
}

/** `missing`: how many bytes of this command's output are missing; undefined if unknown. */
export function truncatedRemark(file: string, missing: number | undefined): string {
  const what =
    missing === 0
      ? "the output of this command is complete; what earlier commands printed there is gone"
      : `${missing === undefined ? "output" : `${missing} bytes of output`} of this command are gone; what was printed after that is there`;
  return `output truncated: the command or another process truncated ${file}: ${what}. The exit code is right.`;
}

export function unsureRemark(stream: StreamName): string {
  return `${stream} may be incomplete: its logger did not finish in time`;
}
