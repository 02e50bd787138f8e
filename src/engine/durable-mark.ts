// Tells the keeper that a shell outlives its host, and its deadline. The keeper cannot read these from meta, because
// it cannot parse JSON.
import { writeFileSync } from "node:fs";
import type { ShellMeta } from "./meta.ts";

/** Writes the deadline twice: in seconds since boot, and as requested, in milliseconds after the start. */
export function writeDurableMark(path: string, { startedUptimeMs, deadlineMs }: ShellMeta): void {
  const lastsMs = deadlineMs ?? 0;
  writeFileSync(path, `${Math.ceil((startedUptimeMs + lastsMs) / 1000)} ${lastsMs}\n`, { mode: 0o600 });
}
