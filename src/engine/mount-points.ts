// The mount points of this process.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { textOfBytes } from "../support/path-text.ts";

export function mountPoints(): string[] {
  const table = attempt(() => readFileSync("/proc/self/mountinfo")) ?? Buffer.alloc(0);
  return textOfBytes(table)
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .map(unescaped);
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
