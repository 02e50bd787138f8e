// The processes of one command of a session. Every command has a number, which its processes carry as their soft limit
// on file locks. The hard limit is the tag of the session.

import type { Engine } from "../engine/engine.ts";
import { type PidMark, pidsSince } from "../engine/pids-since.ts";
import type { ProcessScope, ShellScope } from "../engine/process-scope.ts";
import { lockLimits, type ProcessRef, readStat } from "../engine/process-table.ts";
import type { StartedShell } from "../engine/started-shell.ts";
import { reachOf } from "../engine/tag.ts";
import { settleLeftovers } from "../shell/settle-leftovers.ts";
import type { SessionOutput } from "./session-output.ts";

/** Identifies one command of a session. */
export interface CommandPart {
  readonly number: number;
  /**
   * A mark from before the command started. A process with neither a number nor a numbered ancestor belongs to the
   * command if the process started after this mark.
   */
  readonly pidsBefore?: PidMark;
}

/**
 * Limits the processes to those of this command, without those that earlier commands left running. `bash`: whether bash
 * itself is one of them. With "always", a kill reaches bash even before it has read the command.
 */
export function onlyCommand(
  engine: Engine,
  part: CommandPart,
  bash: "once it runs the command" | "always" | "never" = "once it runs the command",
): ProcessScope {
  const isPart = (pid: number, shell: StartedShell) =>
    pid === shell.commandPid
      ? bash === "always" || (bash === "once it runs the command" && numberOf(pid) === part.number)
      : isOf(part, pid, shell);
  return {
    processesOf: async (shells) => {
      const found = await engine.processesOf(shells);
      return new Map(
        [...found].map(([shell, processes]) => [shell, processes.filter(({ pid }) => isPart(pid, shell))]),
      );
    },
    signalNewProcesses: (shells, plan, onSignalled) =>
      engine.signalNewProcesses(shells, plan, onSignalled, isPart),
    // Never signal the process group: it includes jobs of earlier commands.
    signalGroup: () => "gone",
  };
}

/** The processes that the command left running, as the processes of the shell that represents them. */
export function leftoverScope(engine: Engine, bash: StartedShell, number: number): ShellScope {
  const own = onlyCommand(engine, { number }, "never");
  // These processes carry the tag of the bash, not of the shell that represents them.
  const processesOf: ProcessScope["processesOf"] = async (shells) => {
    const found = (await own.processesOf([bash])).get(bash) ?? [];
    return new Map(shells.map((shell) => [shell, found]));
  };
  return {
    ...own,
    processesOf,
    signalNewProcesses: (shells, plan, onSignalled) =>
      own.signalNewProcesses([bash], plan, (_, process, result) => {
        for (const shell of shells) onSignalled(shell, process, result);
      }),
    leftoversOf: async (shell) => (await processesOf([shell])).get(shell) ?? [],
  };
}

export interface CommandLeftovers {
  readonly processes: readonly ProcessRef[];
  /** Whether one of these processes holds the pipes that the next command prints to. */
  readonly holdsOutput: boolean;
}

/**
 * Finds the leftovers of a command. Checks only the PIDs that the kernel has assigned since the start of the command.
 * Waits a moment for processes that are about to exit.
 */
export async function leftoversOfCommand(
  engine: Pick<Engine, "leftoversOf">,
  bash: StartedShell,
  which: { pidsBefore: PidMark; number: number; output: Pick<SessionOutput, "isHeldBy"> },
): Promise<CommandLeftovers> {
  const { pidsBefore, number, output } = which;
  const find = async () =>
    (await engine.leftoversOf({ ...bash, pidsBefore })).filter(
      ({ pid }) => pid !== bash.commandPid && isLeftBy(number, pid, bash),
    );
  const isHolding = ({ pid }: ProcessRef) => output.isHeldBy(pid);
  const processes = await settleLeftovers(find, isHolding);
  return { processes, holdsOutput: processes.some(isHolding) };
}

/** A process whose number belongs to no earlier command, as in a nested nacre, counts as a leftover of this command. */
function isLeftBy(number: number, pid: number, { tag }: StartedShell): boolean {
  const soft = lockLimits(pid)?.soft;
  if (soft === undefined) return false;
  // The sandbox or a profile started this process before any command.
  if (tag !== undefined && soft === String(tag)) return false;
  const of = Number(soft);
  return !(of > 0 && of < number);
}

/**
 * A process carries the number of its command, unless the process has changed its limit, as a nested nacre does. Then
 * the number of the nearest numbered ancestor counts. Without such an ancestor, the start time of the process counts.
 */
function isOf({ number, pidsBefore }: CommandPart, pid: number, { tag, commandPid }: StartedShell): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = readStat(at)?.parent) {
    const limits = lockLimits(at);
    // The shim and its ancestors belong to no command.
    if (limits === undefined || at === commandPid || !isBelow(limits.hard, tag)) break;
    const own = Number(limits.soft);
    // The sandbox or a profile started this process before any command.
    if (tag !== undefined && limits.soft === String(tag)) return at !== pid && isSince(pidsBefore, pid);
    if (own > 0 && own <= number) return own === number;
  }
  return isSince(pidsBefore, pid);
}

/** Whether this hard limit is the tag, or a lower limit that a nested nacre derived from the tag. */
function isBelow(hard: string, tag: bigint | undefined): boolean {
  if (tag === undefined) return true;
  const { shift, prefix } = reachOf(tag);
  return /^\d+$/.test(hard) && BigInt(hard) >> shift === prefix;
}

function isSince(mark: PidMark | undefined, pid: number): boolean {
  return mark !== undefined && pidsSince(mark).includes(pid);
}

function numberOf(pid: number): number | undefined {
  const soft = Number(lockLimits(pid)?.soft);
  return Number.isSafeInteger(soft) ? soft : undefined;
}
