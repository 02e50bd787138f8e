// Control groups for shells, with cgroup v2 or v1. Mounts nothing. Above the group of this process, changes only groups
// that are delegated to this user.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { attempt } from "../support/attempt.ts";

export type Controller = "pids" | "memory";

/** A directory in which nacre can create groups. */
export interface GroupParent {
  readonly version: 1 | 2;
  readonly dir: string;
  readonly controllers: readonly Controller[];
}

const PREFIX = "nacre-";

/** The files of a limit. The first file is required; the others are set if they exist. */
const LIMIT_FILES: Readonly<Record<1 | 2, Readonly<Record<Controller, readonly string[]>>>> = {
  1: { pids: ["pids.max"], memory: ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"] },
  2: { pids: ["pids.max"], memory: ["memory.max"] },
};

/**
 * Finds the first parent that works for each controller, and tries v2 before v1. Tests each parent by creating a group
 * in it.
 */
export function findGroupParents(
  wanted: readonly Controller[],
  candidates = candidateParents(),
): GroupParent[] {
  const found: GroupParent[] = [];
  for (const { version, dir, controllers } of candidates) {
    const missing = wanted.filter(
      (controller) => !found.some((parent) => parent.controllers.includes(controller)),
    );
    const possible = missing.filter((controller) => version === 2 || controllers.includes(controller));
    if (possible.length === 0) continue;
    const usable = possible.filter((controller) =>
      canHoldGroups({ version, dir, controllers: [controller] }),
    );
    if (usable.length > 0) found.push({ version, dir, controllers: usable });
  }
  return found;
}

/** Creates a group, sets its limits and returns its directory. */
export function makeGroup(
  { version, dir, controllers }: GroupParent,
  name: string,
  limits: Readonly<Partial<Record<Controller, number>>>,
): string {
  const group = join(dir, `${PREFIX}${name}`);
  if (version === 2) enable(dir, controllers);
  mkdirSync(group);
  try {
    for (const controller of controllers) setLimit(group, version, controller, limits[controller]);
  } catch (error) {
    rmdirSync(group);
    throw error;
  }
  // Turn swap off for the group: otherwise a command could exceed the limit by swapping.
  if (version === 2 && controllers.includes("memory"))
    attempt(() => overwrite(join(group, "memory.swap.max"), "0"));
  return group;
}

/** The number of processes of this group that the kernel killed because memory ran out. */
export function oomKills(group: string): number {
  for (const file of ["memory.events", "memory.oom_control"]) {
    const count = /^oom_kill (\d+)$/m.exec(read(join(group, file)))?.[1];
    if (count !== undefined) return Number(count);
  }
  return 0;
}

export function removeGroup(group: string): void {
  attempt(() => rmdirSync(group));
}

/** Removes groups without processes. The kernel refuses to remove the others. */
export function removeEmptyGroups(parents: readonly GroupParent[]): void {
  for (const { dir } of parents) {
    for (const name of attempt(() => readdirSync(dir)) ?? [])
      if (name.startsWith(PREFIX)) removeGroup(join(dir, name));
  }
}

function canHoldGroups(parent: GroupParent): boolean {
  const name = `probe-${process.pid}-${parent.controllers[0]}`;
  const group = attempt(() => makeGroup(parent, name, { pids: 1000, memory: 2 ** 40 }));
  if (group !== undefined) removeGroup(group);
  return group !== undefined;
}

function setLimit(group: string, version: 1 | 2, controller: Controller, limit: number | undefined): void {
  if (limit === undefined) return;
  const [needed = "", ...more] = LIMIT_FILES[version][controller];
  overwrite(join(group, needed), String(limit));
  for (const file of more) attempt(() => overwrite(join(group, file), String(limit)));
}

/** Enables controllers for subgroups. The kernel allows this only in the root group or a group without processes. */
function enable(dir: string, controllers: readonly Controller[]): void {
  const enabled = read(join(dir, "cgroup.subtree_control")).split(/\s+/);
  for (const controller of controllers) {
    if (enabled.includes(controller)) continue;
    attempt(() => overwrite(join(dir, "cgroup.subtree_control"), `+${controller}`));
  }
}

/**
 * The groups of this process and, with v2, also their parents: a group with limited subgroups cannot contain processes.
 */
function candidateParents(): GroupParent[] {
  const mounts = cgroupMounts();
  const lines = read("/proc/self/cgroup").trim().split("\n");
  const parents: GroupParent[] = [];
  for (const line of lines) {
    const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const controllers = names.split(",");
    const mount = mounts.find(({ options }) =>
      names === "" ? options.includes("cgroup2") : controllers.some((name) => options.includes(name)),
    );
    if (!mount) continue;
    const dir = join(mount.path, path);
    if (names !== "") parents.push({ version: 1, dir, controllers: controllers.filter(isController) });
    else {
      parents.unshift({ version: 2, dir, controllers: [] });
      if (path !== "/") parents.splice(1, 0, { version: 2, dir: dirname(dir), controllers: [] });
    }
  }
  return parents.filter(({ dir }) => basename(dir) !== "..");
}

function isController(name: string): name is Controller {
  return name === "pids" || name === "memory";
}

interface CgroupMount {
  readonly path: string;
  /** The mount options and the file system type. */
  readonly options: readonly string[];
}

function cgroupMounts(): CgroupMount[] {
  return read("/proc/self/mountinfo")
    .split("\n")
    .flatMap((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [type = "", , options = ""] = after.split(" ");
      const path = before.split(" ")[4];
      return path !== undefined && type.startsWith("cgroup")
        ? [{ path, options: [type, ...options.split(",")] }]
        : [];
    });
}

/** Does not create the file: only the kernel creates files in a cgroup file system. */
function overwrite(path: string, text: string): void {
  writeFileSync(path, text, { flag: "r+" });
}

function read(path: string): string {
  return attempt(() => readFileSync(path, "utf8")) ?? "";
}
