// The owner of a shell: the host that started it or, after that host's death, the host that takes the shell over. Each
// takeover creates a symbolic link with the next number. The link's text names the owner. Creating a link is atomic,
// so exactly one of several hosts wins. A link needs no disk block, so this works on a full disk. A dead owner does
// not count as an owner.
import { readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../support/attempt.ts";
import type { ShellMeta } from "./meta.ts";
import { isSameProcess, type ProcessIdentity, processKey } from "./process-table.ts";
import { ownerName, ownerNumber, type ShellFiles } from "./state-dir.ts";

export interface Lease {
  /** The number of times that hosts have taken the shell over or given it up. */
  readonly number: number;
  /** undefined if the last holder gave the shell up. */
  readonly holder: ProcessIdentity | undefined;
  /** Whether a host took the shell over after the shell had ended. If so, no other host needs to take it over. */
  readonly over: boolean;
}

/** The text of the link that gives a shell up. */
const NO_OWNER = "none";

/** Throws if the shell's directory is gone. */
export function readLease(files: ShellFiles, meta: ShellMeta): Lease {
  const numbers = readdirSync(files.dir).map((name) => ownerNumber(name));
  const number = Math.max(0, ...numbers);
  if (number === 0) return { number, holder: meta.host, over: false };
  const match = /^(\d+) (\d+)( over)?$/.exec(readlinkSync(ownerLink(files, number)));
  if (!match) return { number, holder: undefined, over: false };
  const [, pid, startTime = "", over] = match;
  return { number, holder: { pid: Number(pid), startTime }, over: over !== undefined };
}

/** Whether the host that owns the shell is alive. */
export function isOwned(files: ShellFiles, meta: ShellMeta): boolean {
  const holder = attempt(() => readLease(files, meta))?.holder;
  return holder !== undefined && isSameProcess(holder.pid, holder.startTime);
}

/** Takes over from a dead holder. False if another host was faster, or the link cannot be written. */
export function takeOver(files: ShellFiles, seen: Lease, me: ProcessIdentity, over: boolean): boolean {
  return link(files, seen.number + 1, `${me.pid} ${me.startTime}${over ? " over" : ""}`);
}

/** Gives the shell up, so that another host can take it over while this process lives on. */
export function giveUp(files: ShellFiles, meta: ShellMeta, me: ProcessIdentity): void {
  // undefined if the directory is gone, and then there is nothing to give up.
  const lease = attempt(() => readLease(files, meta));
  if (lease?.holder && processKey(lease.holder) === processKey(me)) link(files, lease.number + 1, NO_OWNER);
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
