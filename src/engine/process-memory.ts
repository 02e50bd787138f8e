// The memory that a process has in RAM.
import { readFileSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { MEMORY_PAGE_BYTES } from "../support/limits.ts";

/** 0 for a process that has ended. */
export function residentBytes(pid: number): number {
  const text = attempt(() => readFileSync(`/proc/${pid}/statm`, "latin1")) ?? "";
  return Number(text.split(" ")[1] ?? 0) * MEMORY_PAGE_BYTES;
}
