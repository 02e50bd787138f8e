// Tells the keeper, which reads no JSON, that a shell outlives its host, and until when.
import { writeFileSync } from "node:fs";
import type { ShellMeta } from "./meta.ts";

/** Its deadline in seconds since boot, and the same as it was asked for, in milliseconds. */
export function writeDurableMark(path: string, { startedUptimeMs, deadlineMs }: ShellMeta): void {
  const lastsMs = deadlineMs ?? 0;
  writeFileSync(path, `${Math.ceil((startedUptimeMs + lastsMs) / 1000)} ${lastsMs}\n`, { mode: 0o600 });
}
