// Finds what shells have running: by their tags, or, where tags do not work, by everything else there is.

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

/** Set for every command where tags do not work: one more way to find what it left. */
export const COOKIE = "NACRE_SHELL";

export type Found = Map<StartedShell, ProcessRef[]>;

/** What each shell has running among these processes. Also of shells that another host has started. */
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
 * A process that forks one child and exits has gone by the time a scan reaches its pid, and its child came after the
 * scan began. Only the pids given out last tell that such a chain runs.
 */
function addNewest(shells: readonly StartedShell[], found: Found): void {
  if (shells.length === 0) return;
  sampleNewest(ownerFinder(shells), (shell, process) => {
    const list = found.get(shell);
    if (!list?.some(({ pid }) => pid === process.pid)) list?.push(process);
  });
}

/** Which of these shells a process belongs to, told by a look at this process alone. */
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

/** The same where tags do not work: by group, session or cookie. */
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

/** The shells by the process group their command leads. */
function leadersOf(shells: readonly StartedShell[]): Map<number, StartedShell> {
  // A pid stays reserved while it names a group: if nobody has it, the group is still ours.
  const leads = ({ commandPid, commandStart }: StartedShell) =>
    (readStat(commandPid)?.startTime ?? commandStart) === commandStart;
  return new Map(shells.filter(leads).map((shell) => [shell.commandPid, shell]));
}

function cookiesOf(shells: readonly StartedShell[]): Map<string, StartedShell> {
  return new Map(shells.map((shell) => [`${COOKIE}=${shell.id}`, shell]));
}

/** Returns the shells whose tag is another host's by now. */
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

/** The first process of a shell is known before it has taken on its tag (shim.sh). */
function addYoung({ tag, commandPid, commandStart }: StartedShell, list: ProcessRef[]): void {
  if (tag === undefined || list.some(({ pid }) => pid === commandPid)) return;
  if (isSameProcess(commandPid, commandStart)) addProcess(commandPid, list);
}

interface TaggedShells {
  readonly byPrefix: Map<bigint, StartedShell>;
  /** Pids of hosts, by what their keepers bear. */
  readonly hostsByKeeper: Map<bigint, Set<number | undefined>>;
}

/** While its shim lives, nobody else is given the number of its host. */
function isDoubtful({ attached, shimPid, shimStart }: StartedShell): boolean {
  return attached === true && !isSameProcess(shimPid, shimStart);
}

/**
 * Another host gives out the tags of this shell's host, which is dead. It could draw that number only when
 * nobody bore it any more: so nothing of this shell is left, and whoever bears its tag is the other host's.
 */
function isTagPassedOn({ tag, meta }: StartedShell, byShift: ReadonlyMap<bigint, TaggedShells>): boolean {
  if (tag === undefined) return false;
  const hosts = byShift.get(reachOf(tag).shift)?.hostsByKeeper.get(keeperPrefixOf(tag)) ?? [];
  return [...hosts].some((pid) => pid !== undefined && pid !== meta.host.pid);
}

/** The groups, the sessions, whoever has the cookie, and what hangs below them. */
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
