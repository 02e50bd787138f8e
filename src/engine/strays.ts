// What a host and its keeper leave when both are killed at once, and what belongs to no shell: bashes that wait
// for a job which nobody will send, and the directories of keepers.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { keeperOfWaiting } from "./attach.ts";
import { readIdentity, type ShellIdentity } from "./identity.ts";
import type { SpoolRoot } from "./layout.ts";
import { readMeta } from "./meta.ts";
import { allPids, bootId, commandLine, isSameProcess, pidNamespace, readStat } from "./process-table.ts";
import { signalProcess } from "./signals.ts";

export function endStrays(root: SpoolRoot): void {
  const abandoned = new Set(keeperDirs(root).filter((name) => isAbandoned(join(root.keepersDir, name))));
  if (abandoned.size === 0) return;
  const needed = new Set<number>();
  for (const id of root.list()) {
    const files = root.files(id);
    const identity = readIdentity(files.identity);
    if (!identity) continue;
    const meta = readMeta(files.meta);
    if (meta) {
      // A shim needs its keeper's directory until it ends.
      if (isSameProcess(identity.shimPid, identity.shimStart)) needed.add(meta.host.pid);
    } else if (waitsIn(identity, abandoned)) {
      // The shim first, if it was not killed together with host, keeper and deputy: it has no end to record, and a
      // living shim would put the directory back when its bash ends.
      signalProcess({ pid: identity.shimPid, startTime: identity.shimStart }, "SIGKILL");
      killQuietly(identity.commandPid);
      rmSync(files.dir, { recursive: true, force: true });
    }
  }
  continueStopped(root, abandoned);
  for (const name of abandoned) {
    if (needed.has(hostPidOf(name))) continue;
    rmSync(join(root.keepersDir, name), { recursive: true, force: true });
  }
}

/** A shim, a logger or a deputy that is stopped never hears that all others have gone. */
function continueStopped(root: SpoolRoot, keepers: ReadonlySet<string>): void {
  for (const pid of allPids()) {
    const stat = readStat(pid);
    if (!stat || !"Tt".includes(stat.state)) continue;
    const line = commandLine(pid);
    if ([...keepers].some((name) => line.includes(join(root.keepersDir, name))))
      signalProcess({ pid, startTime: stat.startTime }, "SIGCONT");
  }
}

/** Waits for a job from one of these keepers' hosts. */
function waitsIn({ commandPid, commandStart }: ShellIdentity, keepers: ReadonlySet<string>): boolean {
  const keeperDir = keeperOfWaiting(commandPid);
  return (
    keeperDir !== undefined && keepers.has(basename(keeperDir)) && isSameProcess(commandPid, commandStart)
  );
}

/** Neither the keeper nor its host is there any more, as far as can be told from here. */
function isAbandoned(keeperDir: string): boolean {
  const match = /^(\d+) (\d+) (\S+) (\d+)\n$/.exec(readQuietly(join(keeperDir, "identity")));
  if (!match) return false;
  const [, pid = "", startTime = "", boot, namespace] = match;
  if (boot !== bootId()) return true;
  if (namespace !== pidNamespace() || isSameProcess(Number(pid), startTime)) return false;
  // Its host may be about to start another one. Who has its pid now may be somebody else: then another time.
  const host = readStat(hostPidOf(basename(keeperDir)));
  return host === undefined || host.hasEnded;
}

/** A keeper's directory is called after its host. */
function hostPidOf(name: string): number {
  return Number(/^(\d+)-/.exec(name)?.[1] ?? 0);
}

function keeperDirs(root: SpoolRoot): string[] {
  try {
    return readdirSync(root.keepersDir);
  } catch {
    return [];
  }
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
