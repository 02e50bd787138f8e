// Finds the processes of shells: by their tags or, without tags, by process group, session, parents and a variable.

import { sampleNewest } from "./newest-processes.ts";
import {
  allPids,
  commandLine,
  environmentOf,
  forEachPid,
  isSameProcess,
  lockLimit,
  type ProcessRef,
  readStat,
} from "./process-table.ts";
import type { StartedShell } from "./started-shell.ts";
import { hostPidIn } from "./state-dir.ts";
import { keeperPrefixOf, reachOf } from "./tag.ts";

/** The environment variable by which nacre finds the processes of a command without a tag. */
export const COOKIE = "NACRE_SHELL";

export type Found = Map<StartedShell, ProcessRef[]>;

/** Which of these processes belong to each shell. Also works for shells of other hosts. */
export async function findProcesses(
  shells: readonly StartedShell[],
  pids: readonly number[],
): Promise<Found> {
  const found: Found = new Map(shells.map((shell) => [shell, []]));
  const passedOn = await findTagged(shells, pids, found);
  const untagged = shells.filter(({ tag }) => tag === undefined);
  if (untagged.length > 0) await findRelated(untagged, found);
  addNewest(
    shells.filter((shell) => !passedOn.has(shell)),
    found,
  );
  return found;
}

/**
 * A process that forks one child and exits is gone when a scan reaches its PID, and its child appeared after the scan
 * began. Only the newest PIDs reveal such a chain.
 */
function addNewest(shells: readonly StartedShell[], found: Found): void {
  if (shells.length === 0) return;
  sampleNewest(ownerFinder(shells), (shell, process) => {
    const list = found.get(shell);
    if (!list?.some(({ pid }) => pid === process.pid)) list?.push(process);
  });
}

/** Finds the shell of one process by reading only that process. */
export function ownerFinder(shells: readonly StartedShell[]): (pid: number) => StartedShell | undefined {
  const byShift = new Map<bigint, Map<bigint, StartedShell>>();
  for (const shell of shells) {
    if (shell.tag === undefined) continue;
    const { shift, prefix } = reachOf(shell.tag);
    const byPrefix = byShift.get(shift) ?? new Map<bigint, StartedShell>();
    byShift.set(shift, byPrefix.set(prefix, shell));
  }
  const isRelatedTo = relationFinder(shells.filter(({ tag }) => tag === undefined));
  return (pid) => {
    const limit = byShift.size === 0 ? undefined : lockLimit(pid);
    if (limit !== undefined && limit !== "unlimited") {
      for (const [shift, byPrefix] of byShift) {
        const shell = byPrefix.get(BigInt(limit) >> shift);
        if (shell) return shell;
      }
    }
    return isRelatedTo?.(pid);
  };
}

/** Like ownerFinder, but without tags: by group, session or cookie. */
function relationFinder(
  shells: readonly StartedShell[],
): ((pid: number) => StartedShell | undefined) | undefined {
  if (shells.length === 0) return undefined;
  const owners = leadersOf(shells);
  const byCookie = cookiesOf(shells);
  return (pid) => {
    const stat = readStat(pid);
    return stat && (owners.get(stat.group) ?? owners.get(stat.session) ?? cookieOwner(pid, byCookie));
  };
}

/** The shells by the process group that their command leads. */
function leadersOf(shells: readonly StartedShell[]): Map<number, StartedShell> {
  // The kernel does not reuse a PID that is still the ID of a group. So if no process has this PID, the group still
  // belongs to the shell.
  const leads = ({ commandPid, commandStart }: StartedShell) =>
    (readStat(commandPid)?.startTime ?? commandStart) === commandStart;
  return new Map(shells.filter(leads).map((shell) => [shell.commandPid, shell]));
}

function cookiesOf(shells: readonly StartedShell[]): Map<string, StartedShell> {
  return new Map(shells.map((shell) => [`${COOKIE}=${shell.id}`, shell]));
}

/** Returns the shells whose tag now belongs to another host. */
async function findTagged(
  shells: readonly StartedShell[],
  pids: readonly number[],
  found: Found,
): Promise<ReadonlySet<StartedShell>> {
  const byShift = new Map<bigint, TaggedShells>();
  const doubtful: StartedShell[] = [];
  for (const shell of shells) {
    if (shell.tag === undefined) continue;
    const { shift, prefix } = reachOf(shell.tag);
    const known = byShift.get(shift) ?? { byPrefix: new Map(), hostsByKeeper: new Map() };
    byShift.set(shift, known);
    known.byPrefix.set(prefix, shell);
    if (!isDoubtful(shell)) continue;
    doubtful.push(shell);
    known.hostsByKeeper.set(keeperPrefixOf(shell.tag), new Set());
  }
  const passedOn = new Set<StartedShell>();
  if (byShift.size === 0) return passedOn;
  await forEachPid(pids, (pid) => {
    const limit = lockLimit(pid);
    if (limit === undefined || limit === "unlimited") return;
    for (const [shift, { byPrefix, hostsByKeeper }] of byShift) {
      const prefix = BigInt(limit) >> shift;
      const shell = byPrefix.get(prefix);
      if (shell) addProcess(pid, found.get(shell));
      hostsByKeeper.get(prefix)?.add(hostPidIn(commandLine(pid)));
    }
  });
  for (const shell of doubtful) if (isTagPassedOn(shell, byShift)) passedOn.add(shell);
  for (const shell of passedOn) found.set(shell, []);
  const present = new Set(pids);
  for (const shell of shells) if (present.has(shell.commandPid)) addYoung(shell, found.get(shell) ?? []);
  return passedOn;
}

/** The first process of a shell exists for a moment before it has its tag (shim.sh). */
function addYoung({ tag, commandPid, commandStart }: StartedShell, list: ProcessRef[]): void {
  if (tag === undefined || list.some(({ pid }) => pid === commandPid)) return;
  if (isSameProcess(commandPid, commandStart)) addProcess(commandPid, list);
}

interface TaggedShells {
  readonly byPrefix: Map<bigint, StartedShell>;
  /** The PIDs of hosts, by the tags of their keepers. */
  readonly hostsByKeeper: Map<bigint, Set<number | undefined>>;
}

/** Whether another host may use the tag by now. While the shim is alive, no other host can draw its number. */
function isDoubtful({ attached, shimPid, shimStart }: StartedShell): boolean {
  return attached === true && !isSameProcess(shimPid, shimStart);
}

/**
 * Whether another host now uses the number of this shell's dead host. The other host could draw that number only after
 * the last process with such a tag had ended. So no process of this shell is left, and processes with its tag belong
 * to the other host.
 */
function isTagPassedOn({ tag, meta }: StartedShell, byShift: ReadonlyMap<bigint, TaggedShells>): boolean {
  if (tag === undefined) return false;
  const hosts = byShift.get(reachOf(tag).shift)?.hostsByKeeper.get(keeperPrefixOf(tag)) ?? [];
  return [...hosts].some((pid) => pid !== undefined && pid !== meta.host.pid);
}

/** Finds processes with the shell's group, session or cookie, and their descendants. */
async function findRelated(shells: readonly StartedShell[], found: Found): Promise<void> {
  const owners = leadersOf(shells);
  const byCookie = cookiesOf(shells);
  const parents = new Map<number, number>();
  const related = new Map<number, StartedShell>();
  await forEachPid(allPids(), (pid) => {
    const stat = readStat(pid);
    if (!stat) return;
    parents.set(pid, stat.parent);
    const shell = owners.get(stat.group) ?? owners.get(stat.session) ?? cookieOwner(pid, byCookie);
    if (shell) related.set(pid, shell);
  });
  for (const pid of parents.keys()) {
    for (let up: number | undefined = pid; up !== undefined && up > 1; up = parents.get(up)) {
      const shell = related.get(up);
      if (!shell) continue;
      addProcess(pid, found.get(shell));
      break;
    }
  }
}

function cookieOwner(pid: number, byCookie: ReadonlyMap<string, StartedShell>): StartedShell | undefined {
  for (const variable of environmentOf(pid)) {
    const shell = byCookie.get(variable);
    if (shell) return shell;
  }
  return undefined;
}

function addProcess(pid: number, list: ProcessRef[] | undefined): void {
  const stat = readStat(pid);
  if (!stat || stat.hasEnded) return;
  list?.push({ pid, startTime: stat.startTime, group: stat.group, command: commandLine(pid) });
}
