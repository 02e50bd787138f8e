// Finds the processes of shells: by their tags or, without tags, by process group, session, parent and an environment
// variable.

import { isForeign } from "./host-key.ts";
import { sampleNewest } from "./newest-processes.ts";
import { NO_PIDS, pidsSince } from "./pids-since.ts";
import {
  allPids,
  commandLine,
  environmentOf,
  forEachPid,
  isSameProcess,
  type ProcessRef,
  readStat,
  type TagLimits,
  tagLimits,
} from "./process-table.ts";
import type { StartedShell } from "./started-shell.ts";
import { hostPidIn } from "./state-dir.ts";
import { keeperPrefixOf, reachOf } from "./tag.ts";

/** The environment variable by which nacre finds the processes of a command without a tag. */
export const COOKIE = "NACRE_SHELL";

export type Found = Map<StartedShell, ProcessRef[]>;

/**
 * The processes that can belong to these shells: every process that started after the oldest of the shells, and the
 * first process of each command. (That process started earlier, when nacre opened its slot.) Returns all processes if
 * another host has started one of the shells, or if a shell has no tag.
 *
 * The commands come first: a kill sends TERM in this order. If the child of a bash got the signal first, bash could run
 * its next command, or print "Terminated", before its own signal arrives.
 */
export function candidatesOf(shells: readonly StartedShell[]): number[] {
  if (shells.length === 0) return [];
  if (shells.some(({ tag, attached }) => tag === undefined || attached)) return allPids();
  const marks = shells.map(({ pidsBefore }) => pidsBefore).sort((a, b) => a.atMs - b.atMs);
  const [first = NO_PIDS] = marks;
  return [...new Set([...shells.map(({ commandPid }) => commandPid), ...pidsSince(first)])];
}

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
 * Finds chains in which each process forks one child and exits. When a scan reaches such a process, the process is gone,
 * and its child appeared after the scan began. Only the newest PIDs reveal such a chain.
 */
function addNewest(shells: readonly StartedShell[], found: Found): void {
  if (shells.length === 0) return;
  sampleNewest(ownerFinder(shells), (shell, process) => {
    const list = found.get(shell);
    if (!list?.some(({ pid }) => pid === process.pid)) list?.push(process);
  });
}

/** Returns a function that finds the shell of one process. The function reads only this process in /proc. */
export function ownerFinder(shells: readonly StartedShell[]): (pid: number) => StartedShell | undefined {
  const tagged = new TaggedShells(shells);
  const isRelatedTo = relationFinder(shells.filter(({ tag }) => tag === undefined));
  return (pid) => {
    const limits = tagged.isEmpty ? undefined : tagLimits(pid);
    const [shell] = limits ? tagged.ownersOf(limits) : [];
    return shell ?? isRelatedTo?.(pid);
  };
}

/** The shells with a tag, by the tags of their processes. */
class TaggedShells {
  readonly #byShift = new Map<bigint, Map<bigint, StartedShell[]>>();

  constructor(shells: readonly StartedShell[]) {
    for (const shell of shells) {
      if (shell.tag === undefined) continue;
      const { shift, prefix } = reachOf(shell.tag);
      const byPrefix = this.#byShift.get(shift) ?? new Map<bigint, StartedShell[]>();
      this.#byShift.set(shift, byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), shell]));
    }
  }

  get isEmpty(): boolean {
    return this.#byShift.size === 0;
  }

  /** Returns several shells only if they are nested, or if dead hosts without a key had the same host number. */
  ownersOf({ tag, key }: TagLimits): StartedShell[] {
    if (tag === "unlimited") return [];
    const limit = BigInt(tag);
    const owners: StartedShell[] = [];
    for (const [shift, byPrefix] of this.#byShift)
      for (const shell of byPrefix.get(limit >> shift) ?? [])
        if (!isForeign(key, shell.key)) owners.push(shell);
    return owners;
  }
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

/** The shells by process group: the command of each shell leads its group. */
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

/** Finds the processes of shells with a tag. Returns the shells whose tag now belongs to another host. */
async function findTagged(
  shells: readonly StartedShell[],
  pids: readonly number[],
  found: Found,
): Promise<ReadonlySet<StartedShell>> {
  const tagged = new TaggedShells(shells);
  if (tagged.isEmpty) return new Set();
  const keepers = new KeepersOfTags(shells.filter(isDoubtful));
  await forEachPid(pids, (pid) => {
    const limits = tagLimits(pid);
    if (limits === undefined || limits.tag === "unlimited") return;
    for (const shell of tagged.ownersOf(limits)) addProcess(pid, found.get(shell));
    keepers.note(pid, limits);
  });
  const passedOn = keepers.passedOn();
  for (const shell of passedOn) found.set(shell, []);
  const present = new Set(pids);
  for (const shell of shells) if (present.has(shell.commandPid)) addYoung(shell, found.get(shell) ?? []);
  return passedOn;
}

/**
 * Adds the first process of a shell if it does not have its tag yet: the process sets the tag a moment after its
 * start (shim.sh).
 */
function addYoung({ tag, commandPid, commandStart }: StartedShell, list: ProcessRef[]): void {
  if (tag === undefined || list.some(({ pid }) => pid === commandPid)) return;
  if (isSameProcess(commandPid, commandStart)) addProcess(commandPid, list);
}

/**
 * Whether another host may use the tag by now. That is impossible while the shim is alive, because the shim has the
 * host number of the tag. A host without a key uses only a host number that no process has, and a host with a key has
 * a different key.
 */
function isDoubtful({ attached, shimPid, shimStart }: StartedShell): boolean {
  return attached === true && !isSameProcess(shimPid, shimStart);
}

/**
 * Finds the shells of dead hosts whose host number now belongs to another host, unless the two hosts have different
 * keys. If the other host has no key, it could draw the number only after the last process with such a tag had ended.
 * Then no process of the shell is left. It is very unlikely that both hosts have the same number and the same key.
 * Processes with the tag could then belong to either host, and nacre must not kill processes of a living host.
 */
class KeepersOfTags {
  readonly #byPrefix = new Map<bigint, StartedShell[]>();
  readonly #passedOn = new Set<StartedShell>();

  constructor(shells: readonly StartedShell[]) {
    for (const shell of shells) {
      if (shell.tag === undefined) continue;
      const prefix = keeperPrefixOf(shell.tag);
      this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), shell]);
    }
  }

  note(pid: number, { tag, key }: TagLimits): void {
    if (this.#byPrefix.size === 0) return;
    const shells = this.#byPrefix.get(reachOf(BigInt(tag)).prefix) ?? [];
    const doubtful = shells.filter((shell) => !isForeign(key, shell.key));
    if (doubtful.length === 0) return;
    const host = hostPidIn(commandLine(pid));
    if (host === undefined) return;
    for (const shell of doubtful) if (host !== shell.meta.host.pid) this.#passedOn.add(shell);
  }

  passedOn(): ReadonlySet<StartedShell> {
    return this.#passedOn;
  }
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
