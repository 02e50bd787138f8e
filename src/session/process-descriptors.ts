// The open descriptors of another process, as /proc shows them. A process that is gone has none.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../support/attempt.ts";

export function descriptorsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
}

/** What it leads to: equal for two descriptors of one pipe. */
export function linkOf(pid: number, fd: number | string): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
}

export function closesOnExec(pid: number, fd: number): boolean {
  const flags = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1"));
  return (Number.parseInt(/^flags:\s+(\d+)$/m.exec(flags ?? "")?.[1] ?? "0", 8) & 0o2000000) !== 0;
}
