// Control groups: where a group for one shell can be made, by version 2 of the interface or by version 1. Nothing is
// mounted, and nothing above our own group is changed but what has been handed to us.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export type Controller = "pids" | "memory";

/** A directory that groups can be made in, and how limits are spelled there. */
export interface GroupParent {
  readonly version: 1 | 2;
  readonly dir: string;
  readonly controllers: readonly Controller[];
}

const PREFIX = "nacre-";

/** The files of a limit: the first is needed, others are set where they exist. */
const LIMIT_FILES: Readonly<Record<1 | 2, Readonly<Record<Controller, readonly string[]>>>> = {
  1: { pids: ["pids.max"], memory: ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"] },
  2: { pids: ["pids.max"], memory: ["memory.max"] },
};

/** For each controller the first place that works: version 2, else 1. Tried out, not guessed. */
export function findGroupParents(wanted: readonly Controller[], places = ownGroups()): GroupParent[] {
  const found: GroupParent[] = [];
  for (const { version, dir, controllers } of places) {
    const missing = wanted.filter(
      (controller) => !found.some((parent) => parent.controllers.includes(controller)),
    );
    const possible = missing.filter((controller) => version === 2 || controllers.includes(controller));
    if (possible.length === 0) continue;
    const usable = possible.filter((controller) => works({ version, dir, controllers: [controller] }));
    if (usable.length > 0) found.push({ version, dir, controllers: usable });
  }
  return found;
}

/** Makes a group and sets its limits; returns its directory. */
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
  // Memory that is merely moved to the swap counts, too.
  if (version === 2 && controllers.includes("memory"))
    quietly(() => overwrite(join(group, "memory.swap.max"), "0"));
  return group;
}

/** How many processes of this group the kernel has killed for want of memory. */
export function oomKills(group: string): number {
  for (const file of ["memory.events", "memory.oom_control"]) {
    const count = /^oom_kill (\d+)$/m.exec(read(join(group, file)))?.[1];
    if (count !== undefined) return Number(count);
  }
  return 0;
}

export function removeGroup(group: string): void {
  quietly(() => rmdirSync(group));
}

/** Groups without processes. The kernel refuses to remove the others. */
export function removeEmptyGroups(parents: readonly GroupParent[]): void {
  for (const { dir } of parents) {
    for (const name of namesIn(dir)) if (name.startsWith(PREFIX)) removeGroup(join(dir, name));
  }
}

function works(parent: GroupParent): boolean {
  try {
    const [controller] = parent.controllers;
    const group = makeGroup(parent, `probe-${process.pid}-${controller}`, { pids: 1000, memory: 2 ** 40 });
    removeGroup(group);
    return true;
  } catch {
    return false;
  }
}

function setLimit(group: string, version: 1 | 2, controller: Controller, limit: number | undefined): void {
  if (limit === undefined) return;
  const [needed = "", ...more] = LIMIT_FILES[version][controller];
  overwrite(join(group, needed), String(limit));
  for (const file of more) quietly(() => overwrite(join(group, file), String(limit)));
}

/** Allowed where no process is in the parent itself, or it is the root. */
function enable(dir: string, controllers: readonly Controller[]): void {
  const enabled = read(join(dir, "cgroup.subtree_control")).split(/\s+/);
  for (const controller of controllers) {
    if (enabled.includes(controller)) continue;
    quietly(() => overwrite(join(dir, "cgroup.subtree_control"), `+${controller}`));
  }
}

/** Our own groups, and the one above in version 2: processes cannot be in a group that has groups with limits. */
function ownGroups(): GroupParent[] {
  const mounts = cgroupMounts();
  const lines = read("/proc/self/cgroup").trim().split("\n");
  const places: GroupParent[] = [];
  for (const line of lines) {
    const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const controllers = names.split(",");
    const mount = mounts.find(({ options }) =>
      names === "" ? options.includes("cgroup2") : controllers.some((name) => options.includes(name)),
    );
    if (!mount) continue;
    const dir = join(mount.path, path);
    if (names !== "") places.push({ version: 1, dir, controllers: controllers.filter(isController) });
    else {
      places.unshift({ version: 2, dir, controllers: [] });
      if (path !== "/") places.splice(1, 0, { version: 2, dir: dirname(dir), controllers: [] });
    }
  }
  return places.filter(({ dir }) => basename(dir) !== "..");
}

function isController(name: string): name is Controller {
  return name === "pids" || name === "memory";
}

interface CgroupMount {
  readonly path: string;
  /** With the type among them. */
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

/** Only what is there already: these files are the kernel's to make. */
function overwrite(path: string, text: string): void {
  writeFileSync(path, text, { flag: "r+" });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // Not ours to change, or gone.
  }
}
