// Who answers for a shell: the host that started it, and when that is dead, the one that takes it over.
// Each takeover is a link with the next number whose text names the holder: made in one step, so that of several
// that try one succeeds, and without a block of its own, so that it works on a full disk. A holder that is dead
// holds nothing.
import { readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ShellMeta } from "./meta.ts";
import type { ProcessIdentity } from "./process-table.ts";
import { ownerName, ownerNumber, type ShellFiles } from "./state-dir.ts";

export interface Lease {
  /** How often it was taken over or given up. */
  readonly number: number;
  /** undefined where it was given up. */
  readonly holder: ProcessIdentity | undefined;
  /** Taken over when it had ended: no host needs to do so again. */
  readonly over: boolean;
}

/** The text of the link that gives a shell up. */
const NO_OWNER = "none";

/** Throws where the shell's directory is gone. */
export function readLease(files: ShellFiles, meta: ShellMeta): Lease {
  const numbers = readdirSync(files.dir).map((name) => ownerNumber(name));
  const number = Math.max(0, ...numbers);
  if (number === 0) return { number, holder: meta.host, over: false };
  const match = /^(\d+) (\d+)( over)?$/.exec(readlinkSync(ownerLink(files, number)));
  if (!match) return { number, holder: undefined, over: false };
  const [, pid, startTime = "", over] = match;
  return { number, holder: { pid: Number(pid), startTime }, over: over !== undefined };
}

/** Takes over from a holder that was seen dead; false if another was faster, or it cannot be written down. */
export function takeOver(files: ShellFiles, seen: Lease, me: ProcessIdentity, over: boolean): boolean {
  return link(files, seen.number + 1, `${me.pid} ${me.startTime}${over ? " over" : ""}`);
}

/** Gives up what one holds, so that another host can take it over although this process lives on. */
export function giveUp(files: ShellFiles, meta: ShellMeta, me: ProcessIdentity): void {
  try {
    const { number, holder } = readLease(files, meta);
    if (holder?.pid === me.pid && holder.startTime === me.startTime) link(files, number + 1, NO_OWNER);
  } catch {
    // Its directory is gone, and with it whatever could be held.
  }
}

function link(files: ShellFiles, number: number, text: string): boolean {
  try {
    symlinkSync(text, ownerLink(files, number));
    return true;
  } catch {
    return false;
  }
}

function ownerLink(files: ShellFiles, number: number): string {
  return join(files.dir, ownerName(number));
}
