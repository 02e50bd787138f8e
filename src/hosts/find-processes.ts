// Finds what shells have running: by their tags, or, where tags do not work, by everything else there is.
import { reachOf } from "../keeper/tag.ts";
import type { ProcessRef, StartedShell } from "./host.ts";
import { allPids, commandLine, environmentOf, forEachPid, lockLimit, readStat } from "./process-table.ts";

/** Set for every command where tags do not work: one more way to find what it left. */
export const COOKIE = "NACRE_SHELL";

export type Found = Map<StartedShell, ProcessRef[]>;

/** What each shell has running among these processes. Also of shells that another host has started. */
export async function findProcesses(
  shells: readonly StartedShell[],
  pids: readonly number[],
): Promise<Found> {
  const found: Found = new Map(shells.map((shell) => [shell, []]));
  await findTagged(shells, pids, found);
  const untagged = shells.filter(({ tag }) => tag === undefined);
  if (untagged.length > 0) await findRelated(untagged, found);
  return found;
}

async function findTagged(
  shells: readonly StartedShell[],
  pids: readonly number[],
  found: Found,
): Promise<void> {
  const byPrefix = new Map<bigint, Map<bigint, StartedShell>>();
  for (const shell of shells) {
    if (shell.tag === undefined) continue;
    const { shift, prefix } = reachOf(shell.tag);
    byPrefix.set(shift, (byPrefix.get(shift) ?? new Map()).set(prefix, shell));
  }
  if (byPrefix.size === 0) return;
  await forEachPid(pids, (pid) => {
    const limit = lockLimit(pid);
    if (limit === undefined || limit === "unlimited") return;
    for (const [shift, shellsByPrefix] of byPrefix) {
      const shell = shellsByPrefix.get(BigInt(limit) >> shift);
      if (shell) addProcess(pid, found.get(shell));
    }
  });
}

/** The groups, the sessions, whoever has the cookie, and what hangs below them. */
async function findRelated(shells: readonly StartedShell[], found: Found): Promise<void> {
  const owners = new Map(shells.map((shell) => [shell.commandPid, shell]));
  const byCookie = new Map(shells.map((shell) => [`${COOKIE}=${shell.id}`, shell]));
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
  if (!stat || stat.state === "Z" || stat.state === "X") return;
  list?.push({ pid, startTime: stat.startTime, group: stat.group, command: commandLine(pid) });
}
