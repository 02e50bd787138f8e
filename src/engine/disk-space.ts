// Checks for space in the state directory by writing a file: the free space that the file system reports does not
// take quotas into account.
import { randomBytes } from "node:crypto";
import { unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import { DISK_PROBE_BYTES } from "../support/limits.ts";
import { isFull } from "../support/system-error.ts";

/** Whether output can no longer be written: the disk is full, or the quota of this user is used up. */
export function isDiskFull(dir: string): boolean {
  const probe = join(dir, `probe.${randomBytes(4).toString("hex")}`);
  try {
    writeFileSync(probe, Buffer.alloc(DISK_PROBE_BYTES), { flag: "wx", mode: 0o600 });
    return false;
  } catch (error) {
    return isFull(error);
  } finally {
    attempt(() => unlinkSync(probe));
  }
}
