// Who answers for a shell: the host that started it, and when that is dead, the one that takes it over.
// Each takeover is a new file with the next number, made whole and then linked: of several that try, one
// succeeds. A holder that is dead holds nothing.
import { linkSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ShellFiles } from "./layout.ts";
import type { ShellMeta } from "./meta.ts";

/** A process, by pid and start time. */
export interface Holder {
  readonly pid: number;
  readonly startTime: string;
}

export type IsAlive = (holder: Holder) => boolean;

export function holderOf(files: ShellFiles, meta: ShellMeta): Holder {
  const number = lastTakeover(files);
  return (number > 0 ? readTakeover(files, number) : undefined) ?? meta.host;
}

/** Takes over from a holder that is dead; false if it lives, or another was faster. */
export function takeOver(files: ShellFiles, meta: ShellMeta, me: Holder, isAlive: IsAlive): boolean {
  const number = lastTakeover(files);
  const holder = (number > 0 ? readTakeover(files, number) : undefined) ?? meta.host;
  if (isAlive(holder)) return false;
  const draft = join(files.dir, `owner.draft-${me.pid}`);
  try {
    writeFileSync(draft, `${me.pid} ${me.startTime}\n`, { mode: 0o600 });
    linkSync(draft, takeoverFile(files, number + 1));
    return true;
  } catch {
    return false;
  } finally {
    unlinkQuietly(draft);
  }
}

function lastTakeover(files: ShellFiles): number {
  const numbers = readdirSync(files.dir).map((name) => Number(/^owner\.(\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

function readTakeover(files: ShellFiles, number: number): Holder | undefined {
  const match = /^(\d+) (\d+)\n$/.exec(readFileSync(takeoverFile(files, number), "latin1"));
  return match ? { pid: Number(match[1]), startTime: match[2] ?? "" } : undefined;
}

function takeoverFile(files: ShellFiles, number: number): string {
  return join(files.dir, `owner.${number}`);
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never made.
  }
}
