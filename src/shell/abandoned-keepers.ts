// Cleans up after a host process that was killed together with its keeper and its deputy. Ends bashes that wait for a
// job although no process will send one, and removes the directories of dead keepers.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { keeperDirOfWaitingBash } from "../engine/attach.ts";
import { readIdentity, type ShellIdentity } from "../engine/identity.ts";
import { readMeta } from "../engine/meta.ts";
import {
  allPids,
  bootId,
  commandLine,
  isSameProcess,
  pidNamespace,
  readStat,
} from "../engine/process-table.ts";
import { sendSignal, signalProcess } from "../engine/signals.ts";
import { hostPidOf, KEEPER_NAMES, type StateRoot } from "../engine/state-dir.ts";
import { attempt } from "../support/attempt.ts";

export function removeAbandonedKeepers(root: StateRoot): void {
  const keepers = attempt(() => readdirSync(root.keepersDir)) ?? [];
  const abandoned = new Set(keepers.filter((name) => isAbandoned(join(root.keepersDir, name))));
  if (abandoned.size === 0) return;
  const needed = endWaitingShells(root, abandoned);
  continueStopped(root, abandoned);
  for (const name of abandoned) {
    if (needed.has(hostPidOf(name))) continue;
    rmSync(join(root.keepersDir, name), { recursive: true, force: true });
  }
}

/**
 * Ends the waiting bashes. Returns the PIDs of hosts whose shims still run, because a shim needs the directory of its
 * keeper until it ends.
 */
function endWaitingShells(root: StateRoot, keepers: ReadonlySet<string>): ReadonlySet<number> {
  const needed = new Set<number>();
  for (const id of root.list()) {
    const files = root.files(id);
    const identity = readIdentity(files.identity);
    if (!identity) continue;
    const { shimPid, shimStart, commandPid } = identity;
    const meta = readMeta(files.meta);
    if (meta) {
      if (isSameProcess(shimPid, shimStart)) needed.add(meta.host.pid);
    } else if (waitsFor(identity, keepers)) {
      // Kill the shim first, if it is still alive: otherwise it would restore the directory when its bash ends. Nothing
      // is lost, because the shell has no end to record.
      signalProcess({ pid: shimPid, startTime: shimStart }, "SIGKILL");
      sendSignal(commandPid, "SIGKILL");
      rmSync(files.dir, { recursive: true, force: true });
    }
  }
  return needed;
}

/** Continues stopped processes of nacre: a stopped shim, logger or deputy never notices that the others are gone. */
function continueStopped(root: StateRoot, keepers: ReadonlySet<string>): void {
  for (const pid of allPids()) {
    const stat = readStat(pid);
    if (!stat || !"Tt".includes(stat.state)) continue;
    const line = commandLine(pid);
    if ([...keepers].some((name) => line.includes(join(root.keepersDir, name))))
      signalProcess({ pid, startTime: stat.startTime }, "SIGCONT");
  }
}

/** Whether the shell waits for a job from the host of one of these keepers. */
function waitsFor({ commandPid, commandStart }: ShellIdentity, keepers: ReadonlySet<string>): boolean {
  const keeperDir = keeperDirOfWaitingBash(commandPid);
  return (
    keeperDir !== undefined && keepers.has(basename(keeperDir)) && isSameProcess(commandPid, commandStart)
  );
}

/** Whether both the keeper and its host process are dead. False if this process cannot tell. */
function isAbandoned(keeperDir: string): boolean {
  const identity = attempt(() => readFileSync(join(keeperDir, KEEPER_NAMES.identity), "latin1")) ?? "";
  const match = /^(\d+) (\d+) (\S+) (\d+)\n$/.exec(identity);
  if (!match) return false;
  const [, pid = "", startTime = "", boot, namespace] = match;
  if (boot !== bootId()) return true;
  if (namespace !== pidNamespace() || isSameProcess(Number(pid), startTime)) return false;
  // A living host may be about to start another keeper. If another process has reused the host's PID, a later call
  // removes the directory.
  const host = readStat(hostPidOf(basename(keeperDir)));
  return host === undefined || host.hasEnded;
}
