// How many bytes a logger has written. Uses the kernel's count, because a process can truncate the file.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";

/** Matches the count in the file at ioPath. */
export const WRITTEN_BYTES = /^wchar: (\d+)$/m;

/**
 * The io file of the logger's only thread. The io file of the whole process would also count the writes of its ended
 * children.
 */
export function ioPath(pid: number): string {
  return `/proc/${pid}/task/${pid}/io`;
}

/** Opens the file for each read: use this for loggers that are checked rarely. */
export function writtenBy(pid: number): number | undefined {
  const io = attempt(() => readFileSync(ioPath(pid), "latin1")) ?? "";
  const count = WRITTEN_BYTES.exec(io)?.[1];
  return count === undefined ? undefined : Number(count);
}
