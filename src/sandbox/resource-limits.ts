// The limits of one shell, enforced with a control group if possible, otherwise with limits on each process. Reports
// limits that cannot be enforced.
import { readdirSync, statSync } from "node:fs";
import { attempt } from "../support/attempt.ts";
import { defined } from "../support/defined.ts";
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
  /** Memory of all processes of one shell together, or of each process if no control group is available. */
  readonly maxMemoryBytes?: number;
  /** CPU time of each process. */
  readonly cpuSeconds?: number;
  /** Size of each written file. */
  readonly maxFileBytes?: number;
}

/** Says how to apply the limits before the command starts, and reports violations of the limits. */
export interface LimitPlan {
  /** Files to which the limited process must write its PID. */
  readonly groups: readonly string[];
  /** Arguments of `ulimit`. */
  readonly rlimits: readonly string[];
  readonly notEnforced: readonly string[];
  /** Remarks on violations since the last call. */
  takeRemarks(): string[];
  /** Removes the groups and returns the last remarks. Call this after the end of the shell. */
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

  /** Whether any limit is set. */
  get isAny(): boolean {
    return NAMES.some((name) => this.#options[name] !== undefined);
  }

  /** Removes the groups of shells that ended while no nacre process was running. */
  tidy(): void {
    if (this.isAny) removeEmptyGroups(this.#groupParents());
  }

  /** Plans the limits of one shell; `overhead` is the number of nacre's own processes in the group. */
  plan(name: string, overhead: number): LimitPlan {
    const { maxProcesses, maxMemoryBytes, cpuSeconds, maxFileBytes } = this.#options;
    const asked = defined({ pids: maxProcesses && maxProcesses + overhead, memory: maxMemoryBytes });
    const groups = this.#groupParents().flatMap((parent) => {
      // If this fails although the earlier test worked, fall back to limits on each process.
      const dir = attempt(() => makeGroup(parent, name, asked));
      return dir === undefined ? [] : [{ dir, parent }];
    });
    const has = (controller: Controller) =>
      groups.some(({ parent }) => parent.controllers.includes(controller));
    const rlimits: string[] = [];
    const notEnforced: string[] = [];
    if (maxProcesses !== undefined && !has("pids")) {
      // RLIMIT_NPROC does not apply to root, and counts every process of the user.
      if (process.getuid?.() === 0)
        notEnforced.push("maxProcesses: no control group can be created, and no other limit applies to root");
      else rlimits.push(`-u ${maxProcesses + overhead + processesOfUser()}`);
    }
    if (maxMemoryBytes !== undefined && !has("memory")) {
      rlimits.push(`-d ${kib(maxMemoryBytes)}`);
      notEnforced.push(
        "maxMemoryBytes for all processes together: no control group can be created, so the limit applies to each process",
      );
    }
    if (cpuSeconds !== undefined) rlimits.push(`-t ${cpuSeconds}`);
    if (maxFileBytes !== undefined) rlimits.push(`-f ${kib(maxFileBytes)}`);
    let reported = 0;
    const takeRemarks = () => {
      const killed = groups.reduce((sum, { dir }) => sum + oomKills(dir), 0) - reported;
      reported += killed;
      return killed === 0 ? [] : [outOfMemory(killed, maxMemoryBytes)];
    };
    return {
      takeRemarks,
      groups: groups.map(({ dir }) => `${dir}/cgroup.procs`),
      rlimits,
      notEnforced,
      end: () => {
        const remarks = takeRemarks();
        for (const { dir } of groups) removeGroup(dir);
        return remarks;
      },
    };
  }

  #groupParents(): readonly GroupParent[] {
    const { maxProcesses, maxMemoryBytes } = this.#options;
    const wanted = defined({ pids: maxProcesses, memory: maxMemoryBytes });
    this.#parents ??= this.#findParents(Object.keys(wanted) as Controller[]);
    return this.#parents;
  }
}

function outOfMemory(killed: number, limitBytes: number | undefined): string {
  const what = killed === 1 ? "a process" : `${killed} processes`;
  return `out of memory: the kernel killed ${what} of this command, because the command may use at most ${limitBytes} bytes (maxMemoryBytes)`;
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
    count += attempt(() => readdirSync(`/proc/${name}/task`).length) ?? 0;
  }
  return count;
}
