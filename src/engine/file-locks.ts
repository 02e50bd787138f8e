// Finds the process that holds the file lock for which another process waits. Reads /proc/locks.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";

/** The PID of the holder; undefined if the kernel does not show it. */
export function lockHolder(waiting: number): number | undefined {
  const lines = (attempt(() => readFileSync("/proc/locks", "latin1")) ?? "").split("\n");
  // The line of a waiting process follows the line of the holder and has the same number: `1: FLOCK … PID …`
  // and `1: -> FLOCK … PID …`.
  const pidIn = (line: string) => Number(/^\d+:\s+(?:->\s+)?\w+\s+\w+\s+\w+\s+(-?\d+)/.exec(line)?.[1] ?? 0);
  const blocked = lines.find((line) => /^\d+:\s+->/.test(line) && pidIn(line) === waiting);
  const number = blocked?.split(":", 1)[0];
  const holder = lines.find(
    (line) => number !== undefined && line.startsWith(`${number}: `) && !line.includes("->"),
  );
  const pid = holder === undefined ? 0 : pidIn(holder);
  return pid > 0 ? pid : undefined;
}
