// Finds what shells have running: by their tags, or, where tags do not work, by everything else there is.
import type { TagSpace } from "../keeper/tag.ts";
import type { ProcessRef, StartedShell } from "./host.ts";
import { allPids, commandLine, environmentOf, forEachPid, readStat } from "./process-table.ts";
import { tagNumberOf } from "./tag-numbers.ts";

/** Set for every command where tags do not work: one more way to find what it left. */
export const COOKIE = "NACRE_SHELL";

export type Found = Map<StartedShell, ProcessRef[]>;

export async function findTagged(
  shells: readonly StartedShell[],
  pids: readonly number[],
  space: TagSpace,
): Promise<Found> {
  const found: Found = new Map(shells.map((shell) => [shell, []]));
  const byNumber = new Map(shells.map((shell) => [shell.tagNumber, shell]));
  await forEachPid(pids, (pid) => {
    const number = tagNumberOf(pid, space);
    const shell = number === undefined ? undefined : byNumber.get(number);
    if (shell) addProcess(pid, found.get(shell));
  });
  return found;
}

/** The groups, the sessions, whoever has the cookie, and what hangs below them. */
export async function findRelated(shells: readonly StartedShell[]): Promise<Found> {
  const found: Found = new Map(shells.map((shell) => [shell, []]));
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
  return found;
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
