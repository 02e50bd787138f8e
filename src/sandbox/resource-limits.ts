// How much one shell may use: by a control group where one can be made, else by limits of single processes, else
// the result says that nothing holds it.
import { readdirSync, statSync } from "node:fs";
import { NacreError } from "../support/errors.ts";
import {
  type Controller,
  findGroupParents,
  type GroupParent,
  makeGroup,
  oomKills,
  removeEmptyGroups,
  removeGroup,
} from "./cgroups.ts";

export interface LimitOptions {
  /** Processes and threads of one shell at a time. */
  readonly maxProcesses?: number;
  /** Memory of one shell, all its processes together where a control group can be made. */
  readonly maxMemoryBytes?: number;
  /** Processor time of each process. */
  readonly cpuSeconds?: number;
  /** Size of each file that is written. */
  readonly maxFileBytes?: number;
}

/** What is to be done before the command starts, and how to tell what came of it. */
export interface LimitPlan {
  /** Files that take the pid of who is to be limited. */
  readonly groups: readonly string[];
  /** Words for `ulimit`. */
  readonly rlimits: readonly string[];
  readonly notEnforced: readonly string[];
  /** Remarks on what has happened since the last look. */
  look(): string[];
  /** After the end: the last look. */
  end(): string[];
}

const NAMES = ["maxProcesses", "maxMemoryBytes", "cpuSeconds", "maxFileBytes"] as const;

export class Limits {
  readonly #options: LimitOptions;
  #parents: readonly GroupParent[] | undefined;
  readonly #findParents: (wanted: readonly Controller[]) => readonly GroupParent[];

  constructor(options: LimitOptions, findParents = findGroupParents) {
    for (const name of NAMES) {
      const value = options[name];
      if (value === undefined || (Number.isSafeInteger(value) && value > 0)) continue;
      throw new NacreError("invalid_input", `${name} must be a whole number above 0, not ${value}.`);
    }
    this.#options = options;
    this.#findParents = findParents;
  }

  get isAny(): boolean {
    return NAMES.some((name) => this.#options[name] !== undefined);
  }

  /** Removes the groups of shells that have ended without anybody there to do it. */
  tidy(): void {
    if (this.isAny) removeEmptyGroups(this.#groupParents());
  }

  /** For one shell; `overhead` processes are ours. */
  plan(name: string, overhead: number): LimitPlan {
    const { maxProcesses, maxMemoryBytes, cpuSeconds, maxFileBytes } = this.#options;
    const asked = {
      ...(maxProcesses === undefined ? {} : { pids: maxProcesses + overhead }),
      ...(maxMemoryBytes === undefined ? {} : { memory: maxMemoryBytes }),
    };
    const groups: { readonly dir: string; readonly parent: GroupParent }[] = [];
    for (const parent of this.#groupParents()) {
      try {
        groups.push({ parent, dir: makeGroup(parent, name, asked) });
      } catch {
        // It worked when it was tried: now it is the next best.
      }
    }
    const has = (controller: Controller) =>
      groups.some(({ parent }) => parent.controllers.includes(controller));
    const rlimits: string[] = [];
    const notEnforced: string[] = [];
    if (maxProcesses !== undefined && !has("pids")) {
      // The kernel does not hold root to it, and counts every process of the user.
      if (process.getuid?.() === 0)
        notEnforced.push("maxProcesses: no control group can be made, and root has no other limit");
      else rlimits.push(`-u ${maxProcesses + overhead + processesOfUser()}`);
    }
    if (maxMemoryBytes !== undefined && !has("memory")) {
      rlimits.push(`-d ${kib(maxMemoryBytes)}`);
      notEnforced.push(
        "maxMemoryBytes for all processes together: no control group can be made, so it holds for each process",
      );
    }
    if (cpuSeconds !== undefined) rlimits.push(`-t ${cpuSeconds}`);
    if (maxFileBytes !== undefined) rlimits.push(`-f ${kib(maxFileBytes)}`);
    let seen = 0;
    const look = () => {
      const killed = groups.reduce((sum, { dir }) => sum + oomKills(dir), 0) - seen;
      seen += killed;
      return killed === 0 ? [] : [outOfMemory(killed, maxMemoryBytes)];
    };
    return {
      look,
      groups: groups.map(({ dir }) => `${dir}/cgroup.procs`),
      rlimits,
      notEnforced,
      end: () => {
        const remarks = look();
        for (const { dir } of groups) removeGroup(dir);
        return remarks;
      },
    };
  }

  #groupParents(): readonly GroupParent[] {
    const { maxProcesses, maxMemoryBytes } = this.#options;
    const wanted: Controller[] = [
      ...(maxProcesses === undefined ? [] : (["pids"] as const)),
      ...(maxMemoryBytes === undefined ? [] : (["memory"] as const)),
    ];
    this.#parents ??= wanted.length === 0 ? [] : this.#findParents(wanted);
    return this.#parents;
  }
}

function outOfMemory(killed: number, limitBytes: number | undefined): string {
  const what = killed === 1 ? "a process" : `${killed} processes`;
  return `out of memory: the kernel killed ${what} of this command, which may use ${limitBytes} bytes (maxMemoryBytes)`;
}

function kib(bytes: number): number {
  return Math.max(1, Math.floor(bytes / 1024));
}

function processesOfUser(): number {
  const uid = process.getuid?.();
  let count = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name) || statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid !== uid) continue;
    // The limit counts threads.
    count += threadsOf(name);
  }
  return count;
}

function threadsOf(pid: string): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}
